import { expect, test } from 'vitest'
import { isExposed } from '../../../src/service/settings.ts'

const tls = { cert: '', key: '' }

test.each([
  ['loopback, which is what it is without a setting', {}, false],
  ['loopback', { host: '127.0.0.53' }, false],
  ['loopback of IPv6', { host: '::1' }, false],
  ['every address', { host: '0.0.0.0' }, true],
  ['an address of a network', { host: '192.0.2.1' }, true],
  ['every address, with a certificate', { host: '::', tls }, false],
])('without TLS beyond this machine is dangerous: %s', (...[, settings, exposed]) => {
  expect(isExposed({ port: 0, ...settings })).toBe(exposed)
})

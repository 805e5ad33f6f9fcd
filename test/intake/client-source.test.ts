import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { createMatcher, createSourceReader } from '../../src/intake/client-source.ts'

const isTrusted = createMatcher(['10.0.0.0/8', '192.0.2.7', 'fd00::/8'])
const sourceOf = createSourceReader(isTrusted)

function source(remoteAddress: string, forwarded?: string): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  return sourceOf({ socket: { remoteAddress } as Socket, headers })
}

test.each([
  ['a client by itself', '198.51.100.1', undefined, '198.51.100.1'],
  ['IPv4 on a socket of both families', '::ffff:198.51.100.1', undefined, '198.51.100.1'],
  ['a client that claims to be another', '198.51.100.1', '203.0.113.9', '198.51.100.1'],
  ['behind a trusted proxy', '10.1.2.3', '203.0.113.9', '203.0.113.9'],
  ['behind two', '192.0.2.7', '203.0.113.9, 10.9.9.9', '203.0.113.9'],
  ['behind a proxy, with words of its own before', '10.1.2.3', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
  ['behind a proxy that says nothing', '10.1.2.3', undefined, '10.1.2.3'],
  ['behind a proxy that says nonsense', '10.1.2.3', '203.0.113.9, unknown', '10.1.2.3'],
  ['a trusted proxy of IPv6', 'fd00::1', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['behind a proxy that adds the port', '10.1.2.3', '203.0.113.9:4711', '203.0.113.9'],
  ['the same with IPv6', '10.1.2.3', '[2001:db8:1:2::9]:4711', '2001:db8:1:2::/64'],
  ['IPv6 with an interface', '10.1.2.3', 'fe80::1%a:b:c:d:e:f:g:h:i', 'fe80:0:0:0::/64'],
  ['IPv6 in short', '2001:db8::1', undefined, '2001:db8:0:0::/64'],
  ['IPv6 loopback', '::1', undefined, '0:0:0:0::/64'],
  ['a socket that is gone', '', undefined, ''],
])('%s', (...[, remote, forwarded, expected]) => {
  expect(source(remote, forwarded)).toBe(expected)
})

test('two addresses of one network of IPv6 are one client', () => {
  expect(source('2001:db8:1:2::1')).toBe(source('2001:db8:1:2:ffff:ffff:ffff:ffff'))
  expect(source('2001:db8:1:2::1')).not.toBe(source('2001:db8:1:3::1'))
})

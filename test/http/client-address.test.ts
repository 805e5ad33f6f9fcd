import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { createMatcher, createSourceReader } from '../../src/http/client-address.ts'

const isTrusted = createMatcher(['10.0.0.0/8', '192.0.2.7', 'fd00::/8'])
const sourceOf = createSourceReader(isTrusted)

function source(remoteAddress: string, forwarded?: string): string {
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
  return sourceOf({ socket: { remoteAddress } as Socket, headers })
}

test.each([
  ['a direct client', '198.51.100.1', undefined, '198.51.100.1'],
  ['an IPv4 client on a dual-stack socket', '::ffff:198.51.100.1', undefined, '198.51.100.1'],
  ['a client that forges the header', '198.51.100.1', '203.0.113.9', '198.51.100.1'],
  ['a client behind a trusted proxy', '10.1.2.3', '203.0.113.9', '203.0.113.9'],
  ['a client behind two trusted proxies', '192.0.2.7', '203.0.113.9, 10.9.9.9', '203.0.113.9'],
  [
    'a client behind a proxy that sends an address of its own first',
    '10.1.2.3',
    '198.51.100.1, 203.0.113.9',
    '203.0.113.9',
  ],
  ['a proxy without the header', '10.1.2.3', undefined, '10.1.2.3'],
  ['a header that is no address', '10.1.2.3', '203.0.113.9, unknown', '10.1.2.3'],
  ['a client behind a trusted IPv6 proxy', 'fd00::1', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['a proxy that adds the port', '10.1.2.3', '203.0.113.9:4711', '203.0.113.9'],
  [
    'a proxy that adds the port to an IPv6 address',
    '10.1.2.3',
    '[2001:db8:1:2::9]:4711',
    '2001:db8:1:2::/64',
  ],
  ['IPv6 with an interface', '10.1.2.3', 'fe80::1%a:b:c:d:e:f:g:h:i', 'fe80:0:0:0::/64'],
  ['IPv6 in short', '2001:db8::1', undefined, '2001:db8:0:0::/64'],
  ['IPv6 in capitals', '2001:DB8:1:2::1', undefined, '2001:db8:1:2::/64'],
  ['IPv6 loopback', '::1', undefined, '0:0:0:0::/64'],
  ['a closed socket', '', undefined, ''],
])('%s', (...[, remote, forwarded, expected]) => {
  expect(source(remote, forwarded)).toBe(expected)
})

test('two addresses in one IPv6 /64 network are one client', () => {
  expect(source('2001:db8:1:2::1')).toBe(source('2001:db8:1:2:ffff:ffff:ffff:ffff'))
  expect(source('2001:db8:1:2::1')).not.toBe(source('2001:db8:1:3::1'))
})

import { expect, test } from 'vitest'
import { canonicalUrl, findUrlFault, isPrivateUrl, isPublicAddress } from '../../src/outbox/webhook-url.ts'

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'ff02::1',
  'localhost',
  '',
])('%s is not public', (address) => expect(isPublicAddress(address)).toBe(false))

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '100.128.0.1',
  '172.15.255.255',
  '172.32.0.1',
  '192.167.255.255',
  '223.255.255.255',
  '2606:4700::1111',
  '2a00:1450:4001::1',
])('%s is public', (address) => expect(isPublicAddress(address)).toBe(true))

test.each([
  'http://127.0.0.1/',
  'http://0x7f000001/',
  'http://2130706433/',
  'http://127.1/',
  'http://[::1]:8080/hook',
  'http://[::ffff:10.0.0.1]/',
  'http://localhost/',
  'http://shop.localhost./',
  'http://metadata.google.internal/',
])('%s is private whatever a lookup says', (url) => expect(isPrivateUrl(url)).toBe(true))

test('a name is not private by itself, nor is a public address', () => {
  expect(isPrivateUrl('https://shop.example/hook')).toBe(false)
  expect(isPrivateUrl('https://internal.example/hook')).toBe(false)
  expect(isPrivateUrl('https://[2606:4700::1111]/')).toBe(false)
})

test.each([
  ['shop.example', 'must be an absolute http or https URL'],
  ['/hook', 'must be an absolute http or https URL'],
  ['file:///etc/passwd', 'must be an absolute http or https URL'],
  ['javascript:alert(1)', 'must be an absolute http or https URL'],
  ['https://name@shop.example/', 'must not contain a user name or password'],
  ['https://:password@shop.example/', 'must not contain a user name or password'],
  ['https://shop.example/#part', 'must not contain a fragment'],
  [`https://shop.example/${'a'.repeat(1980)}`, 'must have at most 2000 characters'],
])('%s is refused', (url, fault) => expect(findUrlFault(url)).toBe(fault))

test('http and https addresses are called, with any port, path and query', () => {
  expect(findUrlFault('http://127.0.0.1:8080/hook?shop=1')).toBeNull()
  expect(findUrlFault('https://shop.example')).toBeNull()
})

test('an address has one spelling', () => {
  expect(canonicalUrl('HTTPS://Shop.Example:443/a/../hook')).toBe('https://shop.example/hook')
})

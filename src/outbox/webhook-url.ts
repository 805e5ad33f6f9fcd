import { BlockList, isIP } from 'node:net'

const lengthMax = 2000

/** Null if accepted. Everyone who may list the endpoints would see credentials in a URL. */
export function findUrlFault(text: string): string | null {
  if (text.length > lengthMax) return `must have at most ${lengthMax} characters`
  if (!URL.canParse(text)) return 'must be an absolute http or https URL'
  const { protocol, username, password, hash } = new URL(text)
  if (protocol !== 'http:' && protocol !== 'https:') return 'must be an absolute http or https URL'
  if (username !== '' || password !== '') return 'must not contain a user name or password'
  return hash === '' ? null : 'must not contain a fragment'
}

export function canonicalUrl(text: string): string {
  return new URL(text).href
}

/** Names are checked when they are resolved. */
export function isPrivateUrl(url: string): boolean {
  // IPv6 addresses have brackets in a URL.
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) !== 0) return !isPublicAddress(host)
  return /(?:^|\.)(?:localhost|local|internal)\.?$/.test(host)
}

/** Blocks without public hosts (IANA special-purpose address registries). */
const special = new BlockList()
const ipv4: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]
for (const [net, prefix] of ipv4) special.addSubnet(net, prefix, 'ipv4')

/** Only this IPv6 block is public, except for subnets that embed IPv4 addresses or are for documentation. */
const globalUnicast = new BlockList()
globalUnicast.addSubnet('2000::', 3, 'ipv6')
const ipv6: readonly [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]
for (const [net, prefix] of ipv6) special.addSubnet(net, prefix, 'ipv6')

export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4')
    case 6:
      return globalUnicast.check(address, 'ipv6') && !special.check(address, 'ipv6')
    default:
      return false
  }
}

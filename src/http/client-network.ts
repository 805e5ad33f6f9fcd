import { isIPv4, isIPv6 } from 'node:net'

/** Removes the IPv6 prefix of a mapped IPv4 address: a dual-stack socket shows IPv4 clients as `::ffff:192.0.2.1`. */
export function plainAddress(address: string): string {
  if (!address.includes(':')) return address
  const mapped = address.replace(/^::ffff:/i, '')
  return isIPv4(mapped) ? mapped : address
}

/**
 * The key that identifies one client: the address for IPv4; the /64 network for IPv6, because each client has 2^64
 * addresses.
 */
export function networkOf(address: string): string {
  if (!address.includes(':') || !isIPv6(address)) return address
  // A zone id may follow a percent sign, as in `%eth0`.
  const [head = '', tail = ''] = (address.split('%')[0] ?? '').split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === '' ? [] : tail.split(':')
  const gap = address.includes('::') ? Array<string>(8 - left.length - right.length).fill('0') : []
  return `${[...left, ...gap, ...right].slice(0, 4).join(':')}::/64`
}

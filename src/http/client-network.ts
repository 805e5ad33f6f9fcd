import { isIPv4, isIPv6 } from 'node:net'

/** A socket that listens for both families shows IPv4 clients as `::ffff:192.0.2.1`. */
export function plainAddress(address: string): string {
  if (!address.includes(':')) return address
  const mapped = address.replace(/^::ffff:/i, '')
  return isIPv4(mapped) ? mapped : address
}

/** What is taken for one client: an address of IPv4; of IPv6, where everybody has 2^64 addresses, their network. */
export function networkOf(address: string): string {
  if (!address.includes(':') || !isIPv6(address)) return address
  // Behind the percent sign stands an interface, as `eth0`.
  const [head = '', tail = ''] = (address.split('%')[0] ?? '').split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === '' ? [] : tail.split(':')
  const gap = address.includes('::') ? Array<string>(8 - left.length - right.length).fill('0') : []
  return `${[...left, ...gap, ...right].slice(0, 4).join(':')}::/64`
}

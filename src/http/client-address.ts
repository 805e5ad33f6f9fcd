import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** A dual-stack socket shows IPv4 clients as `::ffff:192.0.2.1`. */
export function plainAddress(address: string): string {
  if (!address.includes(':')) return address
  const mapped = address.replace(/^::ffff:/i, '')
  return isIPv4(mapped) ? mapped : address
}

/** The /64 network for IPv6, because each client has 2^64 addresses. */
export function networkOf(address: string): string {
  if (!address.includes(':') || !isIPv6(address)) return address
  // A zone id may follow: `%eth0`.
  const [head = '', tail = ''] = (address.toLowerCase().split('%')[0] ?? '').split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === '' ? [] : tail.split(':')
  const gap = address.includes('::') ? Array<string>(8 - left.length - right.length).fill('0') : []
  return `${[...left, ...gap, ...right].slice(0, 4).join(':')}::/64`
}

/** Returns the key for limits per client. */
export type SourceReader = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string

/** The address that the outermost trusted proxy saw. Anything before it in `X-Forwarded-For` may be forged. */
export function createSourceReader(isTrusted: (address: string) => boolean): SourceReader {
  return ({ socket, headers }) => {
    let address = plainAddress(socket.remoteAddress ?? '')
    const forwarded = headers['x-forwarded-for']
    const hops = typeof forwarded === 'string' ? forwarded.split(',') : []
    while (isTrusted(address)) {
      const hop = plainAddress(withoutPort(hops.pop()?.trim() ?? ''))
      if (!isIPv4(hop) && !isIPv6(hop)) break
      address = hop
    }
    return networkOf(address)
  }
}

/** Addresses, and networks such as `10.0.0.0/8`. */
export function createMatcher(networks: readonly string[]): (address: string) => boolean {
  if (networks.length === 0) return () => false
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return (address) => {
    if (isIPv4(address)) return list.check(address, 'ipv4')
    return isIPv6(address) && list.check(address, 'ipv6')
  }
}

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1] ?? hop.replace(/^([\d.]+):\d+$/, '$1')
}

import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { networkOf, plainAddress } from '../http/client-network.ts'

/** Identifies the client of a request for limits per client: its IPv4 address, or its IPv6 /64 network. */
export type SourceReader = (request: Pick<IncomingMessage, 'socket' | 'headers'>) => string

/**
 * Behind trusted proxies, the client is the address that the outermost trusted proxy saw. Anything before it in
 * `X-Forwarded-For` may be forged.
 */
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

/** Matches an address against addresses and networks such as `10.0.0.0/8`. */
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

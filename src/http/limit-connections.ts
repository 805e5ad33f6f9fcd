import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf, plainAddress } from './client-network.ts'
import { createOpenSockets } from './open-sockets.ts'

type ConnectionLimitOptions = {
  /** Of all clients together. */
  max: number
  perSourceMax: number
  /** Proxies bring the connections of everybody; none is known unless told. */
  isTrusted?: (address: string) => boolean
}

/** What is given up takes a moment to be closed, and whoever comes meanwhile is not turned away for it. */
const closingMax = 512

/**
 * Drops connections of a client that has too many, so that others find one. Where every place is taken, whoever has the
 * most gives up its oldest for a client with fewer: many who each stay within their bound keep nobody out.
 */
export function limitConnections(
  server: Server,
  { max, perSourceMax, isTrusted = () => false }: ConnectionLimitOptions,
): void {
  const open = createOpenSockets()
  let count = 0
  server.maxConnections = max + closingMax

  const makeRoom = (source: string | null): boolean => {
    const busiest = open.busiest()
    if (busiest === null || (source !== null && open.count(source) >= open.count(busiest))) return false
    open.oldest(busiest)?.destroy()
    return true
  }
  server.on('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? '')
    const source = isTrusted(address) ? null : networkOf(address)
    const isTooMany = source !== null && open.count(source) >= perSourceMax
    if (isTooMany || (count >= max && !makeRoom(source))) {
      socket.destroy()
      return
    }
    count++
    socket.once('close', () => count--)
    if (source !== null) open.add(source, socket)
  })
}

import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf, plainAddress } from './client-network.ts'

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

/** Connections by their client. Whatever is asked takes no longer the more clients there are. */
type OpenSockets = {
  /** Holds it until it is closed, or given up as the oldest. */
  add: (source: string, socket: Socket) => void
  count: (source: string) => number
  /** A client that has as many as any other; null where there is none. */
  busiest: () => string | null
  /** Takes out the connection that a client has had for longest; whoever asks closes it. */
  oldest: (source: string) => Socket | null
}

function createOpenSockets(): OpenSockets {
  const ofSources = new Map<string, Set<Socket>>()
  /** Clients by how many they have. */
  const levels = new Map<number, Set<string>>()
  let most = 0

  const count = (source: string) => ofSources.get(source)?.size ?? 0
  const move = (source: string, from: number, to: number) => {
    levels.get(from)?.delete(source)
    if (to > 0) levels.set(to, (levels.get(to) ?? new Set()).add(source))
    most = Math.max(most, to)
    // One step at the most: a client loses one at a time.
    while (most > 0 && (levels.get(most)?.size ?? 0) === 0) levels.delete(most--)
  }
  const remove = (source: string, socket: Socket) => {
    const sockets = ofSources.get(source)
    if (sockets?.delete(socket) !== true) return
    if (sockets.size === 0) ofSources.delete(source)
    move(source, sockets.size + 1, sockets.size)
  }
  return {
    add(source, socket) {
      const sockets = ofSources.get(source) ?? new Set()
      ofSources.set(source, sockets.add(socket))
      move(source, sockets.size - 1, sockets.size)
      socket.once('close', () => remove(source, socket))
    },
    count,
    busiest: () => levels.get(most)?.values().next().value ?? null,
    oldest(source) {
      const socket = ofSources.get(source)?.values().next().value ?? null
      if (socket !== null) remove(source, socket)
      return socket
    },
  }
}

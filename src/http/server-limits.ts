import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf, plainAddress } from './client-address.ts'

export type ServerLimits = {
  headerBytesMax: number
  headersTimeoutMs: number
  /** From the first byte to the last byte of the body. */
  requestTimeoutMs: number
  /** Longer than the 60 s after which common load balancers drop an idle connection. */
  keepAliveTimeoutMs: number
  timeoutCheckMs: number
}

export const serverLimits: ServerLimits = {
  headerBytesMax: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  keepAliveTimeoutMs: 65_000,
  timeoutCheckMs: 1000,
}

type ConnectionLimitOptions = {
  max: number
  perSourceMax: number
  /** A reverse proxy carries the connections of many clients. By default no address is trusted. */
  isTrusted?: (address: string) => boolean
}

/** For sockets that are being closed, so that new clients are not refused meanwhile. */
const closingMax = 512

/**
 * When all connections are in use, the client with the most loses its oldest to a client that has fewer. Many clients
 * within their limit therefore keep no client out.
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

/** By client. The cost of a call does not grow with the number of clients. */
function createOpenSockets() {
  const ofSources = new Map<string, Set<Socket>>()
  const levels = new Map<number, Set<string>>()
  let most = 0

  const count = (source: string) => ofSources.get(source)?.size ?? 0
  const move = (source: string, from: number, to: number) => {
    levels.get(from)?.delete(source)
    if (to > 0) levels.set(to, (levels.get(to) ?? new Set()).add(source))
    most = Math.max(most, to)
    // One step: a client loses one connection at a time.
    while (most > 0 && (levels.get(most)?.size ?? 0) === 0) levels.delete(most--)
  }
  const remove = (source: string, socket: Socket) => {
    const sockets = ofSources.get(source)
    if (sockets?.delete(socket) !== true) return
    if (sockets.size === 0) ofSources.delete(source)
    move(source, sockets.size + 1, sockets.size)
  }
  return {
    /** Holds the socket until it closes, or until `oldest` removes it. */
    add(source: string, socket: Socket): void {
      const sockets = ofSources.get(source) ?? new Set()
      ofSources.set(source, sockets.add(socket))
      move(source, sockets.size - 1, sockets.size)
      socket.once('close', () => remove(source, socket))
    },
    count,
    busiest: (): string | null => levels.get(most)?.values().next().value ?? null,
    /** Removes the connection; the caller closes it. */
    oldest(source: string): Socket | null {
      const socket = ofSources.get(source)?.values().next().value ?? null
      if (socket !== null) remove(source, socket)
      return socket
    },
  }
}

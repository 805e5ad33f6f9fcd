import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf, plainAddress } from './client-source.ts'

type Bounds = {
  perSourceMax: number
  /** Proxies bring the connections of everybody. */
  isTrusted: (address: string) => boolean
}

/** Drops connections of a client that has too many, so that others find one. */
export function limitConnections(server: Server, { perSourceMax, isTrusted }: Bounds): void {
  const open = new Map<string, number>()
  server.on('connection', (socket: Socket) => {
    const address = plainAddress(socket.remoteAddress ?? '')
    if (isTrusted(address)) return
    const source = networkOf(address)
    const count = open.get(source) ?? 0
    if (count >= perSourceMax) {
      socket.destroy()
      return
    }
    open.set(source, count + 1)
    socket.once('close', () => {
      const left = (open.get(source) ?? 0) - 1
      if (left > 0) open.set(source, left)
      else open.delete(source)
    })
  })
}

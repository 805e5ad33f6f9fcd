import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { loopback } from '../../src/sandbox/free-port.ts'

/** Stands before several replicas, as a load balancer does: each connection goes to the next that takes it. */
export type InTurn = AsyncDisposable & {
  add: (port: number) => void
  /** How many connections that replica has taken. */
  taken: (port: number) => number
}

export async function startInTurn(listenPort: number): Promise<InTurn> {
  const taken = new Map<number, number>()
  const open = new Set<Socket>()
  let turn = 0

  const hold = (socket: Socket) => {
    open.add(socket)
    socket.on('error', () => undefined).once('close', () => open.delete(socket))
  }
  const carry = async (client: Socket) => {
    const ports = [...taken.keys()]
    turn++
    for (const place of ports.keys()) {
      const port = ports[(turn + place) % ports.length] ?? 0
      const replica = connect({ port, host: loopback })
      hold(replica)
      if (!(await once(replica, 'connect').then(Boolean, () => false))) continue
      taken.set(port, (taken.get(port) ?? 0) + 1)
      for (const [one, other] of [
        [client, replica],
        [replica, client],
      ] as const)
        one.pipe(other).once('close', () => one.destroy())
      if (client.destroyed) replica.destroy()
      return
    }
    client.destroy()
  }
  const server = createServer((client) => {
    hold(client)
    void carry(client)
  })
  server.listen(listenPort, loopback)
  await once(server, 'listening')
  return {
    add: (port) => void taken.set(port, 0),
    taken: (port) => taken.get(port) ?? 0,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'

/** A way to a server on which nothing comes through for a while, and nothing is closed either. */
export type StallingProxy = AsyncDisposable & {
  url: string
  stall: () => void
  /** New connections come through again; those from before never do, as where a firewall forgot them. */
  admit: () => void
  resume: () => void
}

/** Before the server of that URL. */
export async function startStallingProxy(target: string): Promise<StallingProxy> {
  const sockets = new Set<Socket>()
  let isStalled = false
  const proxy = createServer((client) => {
    const server = connect(Number(new URL(target).port), loopback)
    for (const socket of [client, server]) {
      sockets.add(socket.on('error', () => undefined))
      socket.on('close', () => sockets.delete(socket))
    }
    client.on('data', (data) => server.write(data)).on('close', () => server.destroy())
    server.on('data', (data) => client.write(data)).on('close', () => client.destroy())
    if (isStalled) for (const socket of [client, server]) socket.pause()
  })
  const port = await freePort()
  proxy.listen(port, loopback)
  await once(proxy, 'listening')
  const url = new URL(target)
  url.host = `${loopback}:${port}`
  return {
    url: url.href,
    stall() {
      isStalled = true
      for (const socket of sockets) socket.pause()
    },
    admit() {
      isStalled = false
    },
    resume() {
      isStalled = false
      for (const socket of sockets) socket.resume()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}

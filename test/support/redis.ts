import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { isInstalled } from './programs-needed.ts'

export const redisInstalled = (): boolean => isInstalled('redis-server')

export type RedisServer = {
  url: string
  /** Ends the server and starts it again on the same port, empty. */
  stop: () => Promise<void>
  start: () => Promise<void>
}

/** As after another process took the port. */
export class RedisNotReady extends Error {}

/** A throwaway Redis on a free loopback port, without persistence. `options` are further command line words. */
export async function startRedis(...options: readonly string[]): Promise<RedisServer> {
  const port = await freePort()
  let server = await run(port, options)
  return {
    url: `redis://${loopback}:${port}`,
    async stop() {
      if (server.exitCode !== null || server.signalCode !== null) return
      server.kill('SIGKILL')
      await once(server, 'exit')
    },
    async start() {
      server = await run(port, options)
    },
  }
}

async function run(port: number, options: readonly string[]): Promise<ChildProcess> {
  const words = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--save',
    '',
    '--appendonly',
    'no',
    ...options,
  ]
  const server = spawn('redis-server', words, { stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: server.stdout })) {
    if (!line.includes('Ready to accept connections')) continue
    server.stdout.resume()
    return server
  }
  throw new RedisNotReady(`redis-server ended before it was ready on port ${port}`)
}

/** A proxy before a server that changes what the server says, without changing its length. */
export async function rewritingProxy(url: string, rewrite: (text: string) => string) {
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connect(Number(new URL(url).port), loopback)
    for (const socket of [client, server]) sockets.add(socket.on('error', () => undefined))
    client.pipe(server)
    server.on('data', (data) => client.write(rewrite(data.toString('latin1')), 'latin1'))
    client.on('close', () => server.destroy())
  })
  const port = await freePort()
  proxy.listen(port, loopback)
  await once(proxy, 'listening')
  return {
    url: `redis://${loopback}:${port}`,
    async stop() {
      for (const socket of sockets) socket.destroy()
      proxy.close()
      await once(proxy, 'close')
    },
  }
}

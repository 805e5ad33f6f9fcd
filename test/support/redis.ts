import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'

/** False where Debian's `redis-server` is missing. In CI it must be there. */
export function redisInstalled(): boolean {
  const installed = spawnSync('redis-server', ['--version']).status === 0
  if (!installed && process.env.CI === 'true')
    throw new Error('CI needs redis-server: apt-get install redis-server')
  return installed
}

export type RedisServer = {
  url: string
  /** Ends the server and starts it again on the same port, empty. */
  stop: () => Promise<void>
  start: () => Promise<void>
}

/** A throwaway Redis on a free loopback port, without persistence. `options` are further command line words. */
export async function startRedis(...options: readonly string[]): Promise<RedisServer> {
  const port = await freePort()
  let server = await run(port, options)
  return {
    url: `redis://127.0.0.1:${port}`,
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
    if (line.includes('Ready to accept connections')) break
  }
  server.stdout.resume()
  if (server.exitCode !== null) throw new Error(`redis-server ended with ${server.exitCode}`)
  return server
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no free port')
  return address.port
}

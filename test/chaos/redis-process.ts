import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'

/** Redis that keeps what it is told, as its users run it, and that can be killed and started on the same port and data. */
export type RedisProcess = {
  pid: () => number
  /** Where its data are: `appendonlydir/`. */
  readonly data: string
  readonly url: string
  kill: () => Promise<void>
  start: () => Promise<void>
}

export async function startRedisProcess(folder: string): Promise<RedisProcess> {
  mkdirSync(folder, { recursive: true })
  const port = await freePort()
  let server: ChildProcess | null = await run(folder, port)
  return {
    pid: () => server?.pid ?? 0,
    data: folder,
    url: `redis://${loopback}:${port}`,
    async kill() {
      const running = server
      server = null
      if (running === null || running.exitCode !== null || running.signalCode !== null) return
      running.kill('SIGKILL')
      await once(running, 'exit')
    },
    async start() {
      server ??= await run(folder, port)
    },
  }
}

const options = {
  bind: loopback,
  save: '',
  appendonly: 'yes',
  appendfsync: 'everysec',
  'maxmemory-policy': 'noeviction',
}

async function run(folder: string, port: number): Promise<ChildProcess> {
  const words = Object.entries({ port: String(port), dir: folder, ...options }).flatMap(([name, value]) => [
    `--${name}`,
    value,
  ])
  // A group of its own: Ctrl-C in a terminal reaches only the run, which ends all in order.
  const server = spawn('redis-server', words, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  for await (const line of createInterface({ input: server.stdout })) {
    if (line.includes('Ready to accept connections')) break
  }
  server.stdout.resume()
  if (server.exitCode !== null) throw new Error(`redis-server ended with ${server.exitCode}`)
  return server
}

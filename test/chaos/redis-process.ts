import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pino } from 'pino'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { type Child, startChild } from '../../src/sandbox/processes.ts'
import { until } from '../support/until.ts'

/** Redis that keeps what it is told, as its users run it, and that can be killed and started on the same port and data. */
export type RedisProcess = {
  pid: () => number
  /** Where its data are: `appendonlydir/`. */
  readonly data: string
  readonly url: string
  kill: () => Promise<void>
  start: () => Promise<void>
}

const log = pino({ level: 'silent' })
const name = 'redis'

export async function startRedisProcess(folder: string): Promise<RedisProcess> {
  const port = await freePort()
  let server: Child | null = await run(folder, port)
  return {
    pid: () => server?.pid ?? 0,
    data: folder,
    url: `redis://${loopback}:${port}`,
    async kill() {
      const running = server
      server = null
      if (running !== null) await killChild(running)
    },
    async start() {
      server ??= await run(folder, port)
    },
  }
}

async function killChild(child: Child): Promise<void> {
  // It may have ended by itself, and its number be another's by now.
  const isOver = await Promise.race([child.ended.then(() => true), Promise.resolve(false)])
  if (!isOver) process.kill(child.pid, 'SIGKILL')
  await child.ended
  await child.stop()
}

const options = {
  bind: loopback,
  save: '',
  appendonly: 'yes',
  appendfsync: 'everysec',
  'maxmemory-policy': 'noeviction',
}

async function run(folder: string, port: number): Promise<Child> {
  const words = Object.entries({ port: String(port), dir: folder, ...options }).flatMap(([option, value]) => [
    `--${option}`,
    value,
  ])
  const server = await startChild({
    name,
    folder,
    command: 'redis-server',
    args: words,
    stopSignal: 'SIGTERM',
    user: null,
    env: { PATH: process.env.PATH ?? '' },
    log,
  })
  const ended = server.ended.then((status) => {
    throw new Error(`redis-server ended with ${status}`)
  })
  await Promise.race([until('redis-server takes connections', () => isUp(folder)), ended])
  ended.catch(() => undefined)
  return server
}

async function isUp(folder: string): Promise<true | null> {
  const printed = await readFile(join(folder, `${name}.log`), 'utf8')
  return printed.includes('Ready to accept connections') || null
}

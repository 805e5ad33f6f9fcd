import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { freePort } from '../../../src/sandbox/free-port.ts'
import { until } from '../../support/until.ts'
import { recordProcess } from '../leftover.ts'
import { preloaded, watchLoop } from '../preloaded.ts'
import { mustBeSame } from '../until-same.ts'
import type { ChaosWorld, DaemonProcess } from '../world.ts'

/** A process of the program beside those of the world, which the fault that started it ends itself. */
export type AnotherDaemon = AsyncDisposable & {
  pid: number
  opsUrl: string
  /** Where it takes webhooks. */
  url: string
  output: () => string
  watchLoop: DaemonProcess['watchLoop']
  signal: (signal: NodeJS.Signals) => void
  ended: Promise<number | null>
}

export type Starting = {
  roles?: string
  /** Settings beside those of the world; null leaves one of those out. */
  environment?: Readonly<Record<string, string | null>>
  /** Nobody reads what it prints, and the pipe stays open. */
  isUnread?: boolean
  /** It is enough that it lives: what makes it ready is for later. */
  isReadyLater?: boolean
  /** Another checkout's `src/main.ts`. */
  main?: string
}

const ownMain = join(import.meta.dirname, '../../../src/main.ts')
const upWithinMs = 120_000

/** Starts a process and does not wait for it. */
export async function spawnDaemon(world: ChaosWorld, starting: Starting): Promise<AnotherDaemon> {
  const { roles = 'http', environment = {}, isUnread = false, main = ownMain } = starting
  const ports = { HTTP_PORT: String(await freePort()), OPS_PORT: String(await freePort()) }
  const settings: Record<string, string | null> = { ...world.environment, ...ports, ...environment }
  const given = Object.entries(settings).filter((one): one is [string, string] => one[1] !== null)
  const child = spawn(process.execPath, [main, 'start', '--roles', roles], {
    cwd: world.folder,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { PATH: process.env.PATH, ...Object.fromEntries(given), ...preloaded() },
  })
  if (child.pid !== undefined) recordProcess(world.folder, child.pid)
  const output = isUnread ? () => '' : outputOf(child)
  const ended = once(child, 'exit').then(([code]: (number | null)[]) => code ?? null)
  return {
    pid: child.pid ?? 0,
    opsUrl: `http://127.0.0.1:${ports.OPS_PORT}`,
    url: `http://127.0.0.1:${ports.HTTP_PORT}/webhooks/transfers`,
    output,
    watchLoop: () => watchLoop(child),
    signal: (signal) => void child.kill(signal),
    ended,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

const endWithinMs = 60_000

/** Waits for its end. @throws where that is another status, or does not come within a minute */
export async function holdEnd(what: string, { ended }: AnotherDaemon, status: number): Promise<void> {
  const late = Promise.withResolvers<'it still runs'>()
  const timer = setTimeout(() => late.resolve('it still runs'), endWithinMs)
  mustBeSame(what, await Promise.race([ended, late.promise]), status)
  clearTimeout(timer)
}

/** Starts a process and waits until it is ready. */
export async function startDaemon(world: ChaosWorld, starting: Starting): Promise<AnotherDaemon> {
  const daemon = await spawnDaemon(world, starting)
  await whileRunning(
    daemon,
    until('the process is up', () => answers(daemon, starting), upWithinMs),
  )
  return daemon
}

/** Waits for what a process that has to live makes come true. @throws with what it printed where it ends before */
export async function whileRunning(daemon: AnotherDaemon, coming: Promise<unknown>): Promise<void> {
  const ending = daemon.ended.then((status) => {
    throw new Error(`the process ended with ${status} as it started: ${daemon.output().slice(-2000)}`)
  })
  await Promise.race([coming, ending])
}

async function answers({ opsUrl }: AnotherDaemon, { isReadyLater = false }: Starting): Promise<true | null> {
  const answer = await fetch(`${opsUrl}/${isReadyLater ? 'livez' : 'readyz'}`).catch(() => null)
  return answer?.status === 200 || null
}

function outputOf({ stdout, stderr }: ChildProcess): () => string {
  let text = ''
  stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return () => text
}

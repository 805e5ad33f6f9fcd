import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { programEnvironment } from '../support/program-environment.ts'
import { recordProcess } from './leftover.ts'
import type { Orders } from './preload.ts'
import { passTime, preloaded, setClock, watchLoop } from './preloaded.ts'
import type { DaemonOptions, DaemonProcess } from './world.ts'

export type DaemonSettings = DaemonOptions & {
  name: string
  roles: string
  /** Whole: nothing is inherited but the path. */
  environment: Readonly<Record<string, string>>
  folder: string
}

const mainOfHere = join(import.meta.dirname, '../../src/main.ts')
/** As `npm start` runs it. */
const engineOptions = ['--max-semi-space-size=4', '--optimize-for-size']

/** Starts the program as a process of its own, which ends with this one. */
export function spawnDaemon(settings: DaemonSettings): DaemonProcess {
  const { name, roles, environment, folder, main = mainOfHere, dieAt, stopAt } = settings
  const orders: Orders = { ...(dieAt && { dieAt }), ...(stopAt && { stopAt }) }
  const child = spawn(process.execPath, [...engineOptions, main, 'start', '--roles', roles], {
    cwd: folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...programEnvironment, ...environment, ...preloaded(orders) },
  })
  // What stands still does not notice that its parent is gone.
  if (child.pid !== undefined) recordProcess(folder, child.pid)
  let text = ''
  const keep = (chunk: Buffer) => (text += chunk.toString())
  child.stdout?.on('data', keep)
  child.stderr?.on('data', keep)
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? null)
  const end = (signal: NodeJS.Signals) => {
    if (isRunning(child)) child.kill(signal)
    return ended
  }
  return {
    name,
    pid: child.pid ?? 0,
    roles,
    opsUrl: `http://${environment.OPS_HOST}:${environment.OPS_PORT}`,
    isRunning: () => isRunning(child),
    output: () => text,
    signal: (signal) => void child.kill(signal),
    ended,
    kill: () => end('SIGKILL').then(() => undefined),
    stop() {
      // What stands still does not hear it.
      child.kill('SIGCONT')
      return end('SIGTERM')
    },
    setClock: (offsetMs) => setClock(child, offsetMs),
    passTime: (ms) => passTime(child, ms),
    watchLoop: () => watchLoop(child),
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}

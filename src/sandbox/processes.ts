import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Fault, messageOf } from '../core/errors.ts'
import { logEvent } from '../log/log-event.ts'

export type ChildSettings = {
  name: string
  folder: string
  command: string
  args: readonly string[]
  stopSignal: 'SIGINT' | 'SIGTERM'
  user: UserIds | null
  /** The whole environment: no setting of this process leaks into it. */
  env: Readonly<Record<string, string>>
  log: Logger
}

export type UserIds = { uid: number; gid: number }

export type Child = {
  pid: number
  /** The exit status, or the signal that ended it. */
  ended: Promise<number | string>
  /** Within `stopWithinMs`, with SIGKILL if the stop signal is ignored. */
  stop(): Promise<void>
}

const stopWithinMs = 4000
const checkEveryMs = 20

type ProcessRecord = { pid: number; identity: string; stopSignal: 'SIGINT' | 'SIGTERM' }

/**
 * A program may outlive a kill -9 of this process, so it is recorded and the next start ends it first. It leads its own
 * process group: Ctrl-C reaches only this process, which stops all programs in order.
 * @throws Fault `remote_failed` if the program cannot be started
 */
export async function startChild(settings: ChildSettings): Promise<Child> {
  const { name, folder, log } = settings
  mkdirSync(folder, { recursive: true })
  await endLeftover(folder, name, log)
  const child = spawnRecorded(settings)
  const pid = await pidOf(child, name)
  let stopping: Promise<void> | undefined
  const ended = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => {
      const status = code ?? signal ?? 'unknown'
      if (stopping === undefined && status !== 0)
        logEvent(log, 'program_ended', { name, process: pid, status })
      resolve(status)
    })
  })
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) await endProcess(pid, settings.stopSignal)
    await ended
    rmSync(recordPath(folder, name), { force: true })
  }
  return { pid, ended, stop: () => (stopping ??= stop()) }
}

export function lastOutput(folder: string, name: string): string {
  const linesMax = 5
  return readFileSync(outputPath(folder, name), 'utf8').trimEnd().split('\n').slice(-linesMax).join(' | ')
}

export function hasLeftover(folder: string, name: string): boolean {
  const record = readRecord(recordPath(folder, name))
  return record !== null && identifyProcess(record.pid) === record.identity
}

/** Leaves a reused process number alone. @returns the recorded number, which is no longer a program of the sandbox */
export async function endLeftover(folder: string, name: string, log: Logger): Promise<number | null> {
  const record = readRecord(recordPath(folder, name))
  if (record !== null && hasLeftover(folder, name)) {
    logEvent(log, 'leftover_ended', { name, process: record.pid })
    await endProcess(record.pid, record.stopSignal)
  }
  rmSync(recordPath(folder, name), { force: true })
  return record?.pid ?? null
}

/**
 * Nothing may be awaited between the two steps: a kill -9 in between would leave a program without a record.
 */
function spawnRecorded({ name, folder, command, args, stopSignal, user, env }: ChildSettings): ChildProcess {
  // A file, not a pipe: the program must be able to keep writing after this process has ended.
  const output = openSync(outputPath(folder, name), 'w')
  const child = spawn(command, args, { detached: true, stdio: ['ignore', output, output], env, ...user })
  closeSync(output)
  const identity = child.pid === undefined ? null : identifyProcess(child.pid)
  if (child.pid !== undefined && identity !== null) {
    const record: ProcessRecord = { pid: child.pid, identity, stopSignal }
    writeFileSync(recordPath(folder, name), JSON.stringify(record))
  }
  return child
}

function pidOf(child: ChildProcess, name: string): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', (error) => {
      const details = { what: `starting ${name}`, problem: messageOf(error) }
      reject(new Fault('remote_failed', details, { cause: error }))
    })
    if (child.pid !== undefined) resolve(child.pid)
  })
}

async function endProcess(pid: number, signal: NodeJS.Signals): Promise<void> {
  const identity = identifyProcess(pid)
  const lasts = (): boolean => identity !== null && identifyProcess(pid) === identity
  const deadline = Date.now() + stopWithinMs
  send(pid, signal)
  while (lasts()) {
    if (Date.now() > deadline) send(pid, 'SIGKILL')
    await sleep(checkEveryMs)
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

function readRecord(path: string): ProcessRecord | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as ProcessRecord
  } catch {
    // There is no record, or its writer was killed while writing.
    return null
  }
}

function recordPath(folder: string, name: string): string {
  return join(folder, `${name}.process.json`)
}

function outputPath(folder: string, name: string): string {
  return join(folder, `${name}.log`)
}

/**
 * Process numbers are reused, so the start time identifies a run; null if none runs. Slim images lack `ps`, so Linux
 * reads `/proc`.
 */
export function identifyProcess(pid: number): string | null {
  return process.platform === 'linux' ? identifyByProc(pid) : identifyByPs(pid)
}

function identifyByProc(pid: number): string | null {
  const stat = readOrNull(`/proc/${pid}/stat`)
  // The name in parentheses may contain spaces and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, startedTicks] = [fields?.[0], fields?.[19]]
  if (state === undefined || startedTicks === undefined || isDead(state)) return null
  // Ticks count from the boot, so they can repeat after another boot.
  const boot = readOrNull('/proc/sys/kernel/random/boot_id')?.trim() ?? 'unknown boot'
  return `${boot} ${startedTicks}`
}

function identifyByPs(pid: number): string | null {
  try {
    const line = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim()
    return line === '' || isDead(line) ? null : line.replace(/^\S+\s+/, '')
  } catch {
    return null
  }
}

/** A zombie only waits for its parent to collect it. */
function isDead(state: string): boolean {
  return state.startsWith('Z') || state.startsWith('X')
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

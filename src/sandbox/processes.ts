import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { Fault, messageOf } from '../core/errors.ts'
import { tell } from '../log/tell.ts'
import { identifyProcess } from './process-identity.ts'

export type ChildSettings = {
  /** Names the record `{name}.process.json` and the output `{name}.log` in `folder`. */
  name: string
  folder: string
  command: string
  args: readonly string[]
  /** Asks the program to save its state and end. */
  stopSignal: 'SIGINT' | 'SIGTERM'
  /** Whom to run as; null runs as whoever runs us. */
  user: UserIds | null
  /** The whole environment of the program: nothing is inherited, so that no setting of ours leaks into it. */
  env: Readonly<Record<string, string>>
  log: Logger
}

export type UserIds = { uid: number; gid: number }

export type Child = {
  pid: number
  /** Settles when the program has ended, with its exit status or the signal that ended it. */
  ended: Promise<number | string>
  /** Ends the program within `stopWithinMs`, by SIGKILL if it does not follow. */
  stop(): Promise<void>
}

/** How long a program gets to end by itself. */
const stopWithinMs = 4000
const checkEveryMs = 20

type ProcessRecord = { pid: number; identity: string; stopSignal: 'SIGINT' | 'SIGTERM' }

/**
 * Starts a program that may outlive a kill -9 of ours, and records it, so that the next start ends it first.
 * It leads its own process group, so that Ctrl-C in a terminal reaches only us, who then stop all in order.
 * @throws Fault `remote_failed` where it cannot be started.
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
      if (stopping === undefined && status !== 0) tell(log, 'program_ended', { name, process: pid, status })
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

/** The last lines a program wrote, to say why it failed. */
export function lastOutput(folder: string, name: string): string {
  const linesMax = 5
  return readFileSync(outputPath(folder, name), 'utf8').trimEnd().split('\n').slice(-linesMax).join(' | ')
}

/** Whether an earlier, killed run of ours left a program running under this name. */
export function hasLeftover(folder: string, name: string): boolean {
  const record = readRecord(recordPath(folder, name))
  return record !== null && identifyProcess(record.pid) === record.identity
}

/**
 * Ends what an earlier, killed run of ours left running under this name. A recycled process number is left alone.
 * Returns the number on record, which then belongs to no program of ours.
 */
export async function endLeftover(folder: string, name: string, log: Logger): Promise<number | null> {
  const record = readRecord(recordPath(folder, name))
  if (record !== null && hasLeftover(folder, name)) {
    tell(log, 'leftover_ended', { name, process: record.pid })
    await endProcess(record.pid, record.stopSignal)
  }
  rmSync(recordPath(folder, name), { force: true })
  return record?.pid ?? null
}

/** Nothing may be awaited between the two steps: a kill -9 between them would leave a program without a record. */
function spawnRecorded({ name, folder, command, args, stopSignal, user, env }: ChildSettings): ChildProcess {
  // A file, not a pipe: the program must be able to write on when we are gone.
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

/** Returns when the process has ended. */
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
    // None was written, or its writer was killed while writing.
    return null
  }
}

function recordPath(folder: string, name: string): string {
  return join(folder, `${name}.process.json`)
}

function outputPath(folder: string, name: string): string {
  return join(folder, `${name}.log`)
}

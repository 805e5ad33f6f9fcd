import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** A program of ours in a process of its own, and the first line it printed. */
export type RunningProgram = { process: ChildProcess; line: string; killHard: () => Promise<void> }

/** Runs a file, named from the root of the project, until it has printed one line. */
export async function runProgram(file: string, ...args: string[]): Promise<RunningProgram> {
  const path = join(import.meta.dirname, '../..', file)
  const child = spawn(process.execPath, [path, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
  const killHard = async (): Promise<void> => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  return { process: child, line, killHard }
}

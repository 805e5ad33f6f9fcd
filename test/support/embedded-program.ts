import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { programEnvironment } from './program-environment.ts'
import { until } from './until.ts'

export type EmbeddedProgram = {
  pid: number
  /** Everything it has printed. */
  output: () => string
  /** Ends it and returns its exit status, null where a signal ended it. */
  end: (signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL') => Promise<number | null>
}

export const ownMain = join(import.meta.dirname, '../../src/main.ts')
const upWithinMs = 180_000

/** Runs `bin/depositd start` in a folder of its own, as a person would, and returns once everything is up. */
export async function startProgram(folder: string, trafficSeconds: number): Promise<EmbeddedProgram> {
  const program = spawnProgram(folder, ['start', '--traffic', trafficSeconds.toString()])
  await until('the program is up', () => isUp(program), upWithinMs)
  return program
}

/** Runs the program, or another version of it, with any words, and with these settings only. */
export function spawnProgram(
  where: string | { folder: string; main: string },
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): EmbeddedProgram & { ended: Promise<number | null> } {
  const { folder, main } = typeof where === 'string' ? { folder: where, main: ownMain } : where
  const child = spawn(process.execPath, [main, ...words], {
    cwd: folder,
    env: { ...programEnvironment, ...environment },
  })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const ended = once(child, 'exit').then(([code]: (number | null)[]) => code ?? null)
  return {
    pid: child.pid ?? 0,
    output: () => text,
    ended,
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      return ended
    },
  }
}

function isUp({ output }: EmbeddedProgram): true | null {
  if (output().includes('depositd: ')) throw new Error(output())
  return output().includes('Ctrl-C stops everything') || null
}

import { spawnSync } from 'node:child_process'
import { isInstalled } from './programs-needed.ts'

export const promtoolInstalled = (): boolean => isInstalled('promtool')

/** Runs promtool to its end and gives its exit status with all that it said. */
export function runPromtool(...words: readonly string[]): { status: number | null; said: string } {
  // With the default of 100, a quarter of what it computes is to free memory.
  const env = { ...process.env, GOGC: '400' }
  const { status, stdout, stderr } = spawnSync('promtool', words, { encoding: 'utf8', env })
  return { status, said: stdout + stderr }
}

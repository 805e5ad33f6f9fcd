import { spawnSync } from 'node:child_process'
import { isInstalled } from './programs-needed.ts'

export const promtoolInstalled = (): boolean => isInstalled('promtool')

/** Runs promtool to its end and gives its exit status with all that it said. */
export function runPromtool(...words: readonly string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', words, { encoding: 'utf8' })
  return { status, said: stdout + stderr }
}

import { spawnSync } from 'node:child_process'

/** False where Debian's `prometheus`, which brings promtool, is missing. In CI it must be there. */
export function promtoolInstalled(): boolean {
  const installed = spawnSync('promtool', ['--version']).status === 0
  if (!installed && process.env.CI === 'true')
    throw new Error('CI needs promtool: apt-get install --no-install-recommends prometheus')
  return installed
}

/** Runs promtool to its end and gives its exit status with all that it said. */
export function runPromtool(...words: readonly string[]): { status: number | null; said: string } {
  const { status, stdout, stderr } = spawnSync('promtool', words, { encoding: 'utf8' })
  return { status, said: stdout + stderr }
}

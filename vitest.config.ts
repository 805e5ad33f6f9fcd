import { statfsSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const memoryFolder = '/dev/shm'
const memoryMinBytes = 4 * 1024 ** 3

/** Clones of databases are hundreds of small files: on a disk they take ten times the processor time. */
if (memoryBytes() >= memoryMinBytes) process.env.TMPDIR ??= memoryFolder

/** Half of what the start of a program computes is to compile its sources. */
process.env.NODE_COMPILE_CACHE ??= join(tmpdir(), 'depositd-compiled')

function memoryBytes(): number {
  try {
    const { bavail, bsize } = statfsSync(memoryFolder)
    return bavail * bsize
  } catch {
    return 0
  }
}

/** Their files share worker processes: what one imports stays loaded for the next. They leave nothing behind in the process. */
const together = [
  'address',
  'api',
  'app',
  'chain',
  'cli',
  'config',
  'core',
  'docs',
  'evidence',
  'grafana',
  'http',
  'intake',
  'jobs',
  'ledger',
  'log',
  'ops',
  'oracle',
  'presentation',
  'provider',
  'sandbox',
  'scenario',
  'service',
  'store',
  'witness',
].map((folder) => `test/${folder}/**/*.test.ts`)

const options = {
  pool: 'forks',
  // Limits end what hangs; how fast a machine is decides no test.
  testTimeout: 120_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
  // Concurrent tests of a file wait for what does not come; all of them at once.
  maxConcurrency: 16,
} as const

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Tests mostly wait, for chains and for deadlines: with one file per core, half of the time no core is busy.
    maxWorkers: 2 * availableParallelism(),
    // The project that comes first by its name runs first.
    projects: [
      { test: { ...options, name: 'alone', include: ['test/**/*.test.ts'], exclude: together } },
      { test: { ...options, name: 'together', include: together, isolate: false } },
    ],
  },
})

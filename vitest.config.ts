import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // Tests mostly wait, for chains and for deadlines: with one file per core, half of the time no core is busy.
    maxWorkers: 2 * availableParallelism(),
    // Limits end what hangs; how fast a machine is decides no test.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
})

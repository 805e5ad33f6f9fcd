import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

const isLong = ({ moduleId }: TestSpecification) => /\/test\/(scenario|chaos|conformance)\//.test(moduleId)

/** Files that wait long for chains and processes start first, so that none of them is left alone at the end. */
class LongestFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((one, other) => Number(isLong(other)) - Number(isLong(one))))
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts'],
    pool: 'forks',
    // Tests mostly wait, for chains and for deadlines: with one file per core, half of the time no core is busy.
    maxWorkers: 3 * availableParallelism(),
    sequence: { sequencer: LongestFirst },
    // Limits end what hangs; how fast a machine is decides no test.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
})

import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Tests that kill most mutants come first, since a killed one ends its run; properties that take seconds come last. */
const order = ['/decisions.test', '/reconcile', '/matching/', '/judging/', '']

function rank({ moduleId }: TestSpecification): number {
  if (moduleId.includes('/part-of-evidence')) return order.length
  return order.findIndex((part) => moduleId.includes(part))
}

class KillersFirst extends BaseSequencer {
  override sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return Promise.resolve(files.toSorted((one, other) => rank(one) - rank(other)))
  }
}

/** For `npm run mutate`: the tests of the mutated folders, in one process. */
export default defineConfig({
  test: {
    include: (process.env.MUTATED_TESTS ?? 'test/core').split(',').map((folder) => `${folder}/**/*.test.ts`),
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 20_000,
    sequence: { sequencer: KillersFirst },
  },
})

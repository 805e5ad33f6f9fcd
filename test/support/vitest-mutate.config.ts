import { defineConfig } from 'vitest/config'

/** For `npm run mutate`: the tests of the mutated folders, in one process. */
export default defineConfig({
  test: {
    include: (process.env.MUTATED_TESTS ?? 'test/core').split(',').map((folder) => `${folder}/**/*.test.ts`),
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 20_000,
  },
})

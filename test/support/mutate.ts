import { Stryker } from '@stryker-mutator/core'

/**
 * `npm run mutate [FILE or FOLDER …]`: the mutation score of the domain and the ledger, by folder, with the mutants that
 * survive. Each change of the code (a mutant) that no test notices survives. A full run takes hours; a file takes minutes.
 */

/** The tests that run against the mutants of each folder. */
const testsOf = { 'src/core': 'test/core', 'src/ledger': 'test/ledger' }
const scoreMin = 90

const asked = process.argv.slice(2)
const targets = asked.length > 0 ? asked : Object.keys(testsOf)
const tests = Object.entries(testsOf).flatMap(([folder, folderOfTests]) =>
  targets.some((target) => target.startsWith(folder)) ? [folderOfTests] : [],
)
process.env.MUTATED_TESTS = tests.join(',')
// Fewer runs of each property than in the tests: the score is a lower bound.
process.env.RUNS ??= '40'

const results = await new Stryker({
  mutate: targets.map((target) => (target.endsWith('.ts') ? target : `${target}/**/*.ts`)),
  testRunner: 'vitest',
  vitest: { configFile: 'test/support/vitest-mutate.config.ts', related: false },
  plugins: ['@stryker-mutator/vitest-runner'],
  coverageAnalysis: 'perTest',
  incremental: true,
  incrementalFile: 'node_modules/.cache/mutation.json',
  tempDirName: 'node_modules/.cache/mutation',
  ignorePatterns: ['bench', 'docs', 'grafana'],
  ignoreStatic: true,
  concurrency: 2,
  timeoutMS: 10_000,
  reporters: ['progress'],
  // Rewriting tsconfig.json needs an API that TypeScript 7 does not have; no test reads that file.
  tsconfigFile: 'none',
  allowConsoleColors: false,
}).runMutationTest()

const folders = Map.groupBy(results, ({ fileName }) => fileName.split('/').slice(-3, -1).join('/'))
let isGood = true
for (const [folder, mutants] of [...folders].toSorted(([one], [other]) => one.localeCompare(other))) {
  const valid = mutants.filter(({ status }) =>
    ['Killed', 'Timeout', 'Survived', 'NoCoverage'].includes(status),
  )
  const detected = valid.filter(({ status }) => status === 'Killed' || status === 'Timeout')
  const score = (100 * detected.length) / valid.length
  isGood &&= score >= scoreMin
  process.stdout.write(`${folder.padEnd(24)} ${score.toFixed(1)} % of ${valid.length} mutants\n`)
}
for (const { status, fileName, location, mutatorName, replacement } of results)
  if (status === 'Survived' || status === 'NoCoverage')
    process.stdout.write(
      `${fileName}:${location.start.line}:${location.start.column} ${mutatorName} ${status} ${replacement?.replace(/\s+/g, ' ').slice(0, 100)}\n`,
    )
process.exitCode = isGood ? 0 : 1

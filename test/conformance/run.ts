import { readOptions, usage, WrongUse } from './options.ts'
import { report } from './report.ts'
import { testFacts } from './suite.ts'

/** `npm run conformance`: whether a deposit service does what the interface states. */
async function main(words: readonly string[]): Promise<number> {
  const options = readOptions(words)
  if (options === null) {
    process.stdout.write(usage)
    return 0
  }
  const results = await testFacts(options.subject)
  process.stdout.write(options.json ? `${JSON.stringify(results, null, 2)}\n` : report(results))
  return results.some(({ verdict }) => verdict.kind === 'broken') ? 1 : 0
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof WrongUse)) throw error
  process.stderr.write(`conformance: ${error.message}; see npm run conformance -- --help\n`)
  process.exitCode = 2
}

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readApiDescription } from '../../src/api/routes.ts'
import { licencesPage } from './licences.ts'
import { logsPage } from './logs-page.ts'
import { metricsPage } from './metrics-page.ts'
import { mismatchesPage } from './mismatches-page.ts'
import { runbookPage } from './runbook-page.ts'

/** `node test/support/generate-docs.ts` writes the pages that are made from the code; `--check` compares them. */
export const generatedPages: readonly { file: string; text: () => string }[] = [
  { file: 'docs/mismatches.md', text: mismatchesPage },
  { file: 'docs/metrics.md', text: metricsPage },
  { file: 'docs/logs.md', text: logsPage },
  { file: 'docs/runbook.md', text: runbookPage },
  { file: 'docs/internals/licences.md', text: licencesPage },
  { file: 'docs/openapi.json', text: () => `${JSON.stringify(readApiDescription, null, 2)}\n` },
]

const root = join(import.meta.dirname, '../..')

if (import.meta.main) {
  for (const { file, text } of generatedPages) {
    const path = join(root, file)
    if (!process.argv.includes('--check')) writeFileSync(path, text())
    else if (readFileSync(path, 'utf8') !== text()) {
      process.stderr.write(
        `${file} is not what the code says; run "node test/support/generate-docs.ts" and read the difference\n`,
      )
      process.exitCode = 1
    }
  }
}

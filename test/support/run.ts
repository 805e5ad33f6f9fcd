import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { missingPrograms } from './programs-needed.ts'

/** `npm test`: all tests, with a line on what could not run here, and a closing line that counts. */

const missing = missingPrograms()
for (const { name, debian, without } of missing) {
  process.stdout.write(`${name} is not installed: ${without} left out (apt-get install ${debian})\n`)
}
if (missing.length > 0 && process.env.CI === 'true') {
  process.stdout.write('in CI nothing may be left out\n')
  process.exit(1)
}

const folder = mkdtempSync(join(tmpdir(), 'depositd-report-'))
const report = join(folder, 'report.json')
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...process.argv.slice(2)], {
  stdio: 'inherit',
})
child.once('exit', (code) => {
  const { numPassedTests: passed, numFailedTests: failed } = readReport()
  rmSync(folder, { recursive: true })
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  process.exitCode = code === 0 && failed === 0 && passed > 0 ? 0 : 1
})

function readReport(): { numPassedTests: number; numFailedTests: number } {
  try {
    return JSON.parse(readFileSync(report, 'utf8')) as { numPassedTests: number; numFailedTests: number }
  } catch {
    return { numPassedTests: 0, numFailedTests: 0 }
  }
}

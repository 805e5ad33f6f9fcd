import { execFileSync } from 'node:child_process'
import { mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * `node test/support/screenshot.ts [URL]`: writes the picture of the README, docs/images/console.png, of the console of a
 * running `npm start`. It needs Chromium (Debian's package `chromium`).
 */

const url = process.argv[2] ?? 'http://127.0.0.1:9464/'
const file = join(import.meta.dirname, '../../docs/images/console.png')

mkdirSync(dirname(file), { recursive: true })
execFileSync(
  'chromium',
  [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--hide-scrollbars',
    '--window-size=1440,780',
    `--screenshot=${file}`,
    url,
  ],
  { stdio: 'pipe' },
)
process.stdout.write(`${file}: ${Math.round(statSync(file).size / 1024)} KB of ${url}\n`)

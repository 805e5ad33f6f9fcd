import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { formatNames, formatOf } from '../../src/ledger/export/formats.ts'
import type { Books } from '../support/books.ts'
import { runCommand } from '../support/command.ts'
import { temporaryFolder } from '../support/folder.ts'
import { tableRows } from '../support/markdown.ts'
import { hledgerInstalled } from '../support/plain-text-accounting.ts'
import { openValuedBooks } from '../support/valued-books.ts'
import { readText, root } from './pages.ts'

const page = readText('docs/exports.md')
const examples = [...page.matchAll(/^```sh\n(.*)\n```\n(?:\n```text\n([\s\S]*?)^```$)?/gm)].map(
  ([whole, command = '', output]) => ({ whole, command, isShown: output !== undefined }),
)

let books: Books

beforeAll(async () => {
  books = await openValuedBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

async function outputOf(command: string): Promise<string> {
  const [program = '', ...words] = command.replace(/^bin\//, '').split(' ')
  if (program !== 'depositd')
    return execFileSync(program, words, { encoding: 'utf8' }).replaceAll(/ +$/gm, '')
  const { status, out, err } = await runCommand(words.join(' '), { DATABASE_URL: books.url })
  expect({ status, err }).toEqual({ status: 0, err: '' })
  return out
}

/** `vitest run test/docs/exports.test.ts -u` writes the output into the page. */
test.skipIf(!hledgerInstalled())('every example prints what the page shows', async () => {
  const folder = process.cwd()
  process.chdir(await temporaryFolder())
  onTestFinished(() => process.chdir(folder))
  let answered = page
  for (const { whole, command, isShown } of examples) {
    const output = await outputOf(command)
    if (isShown)
      answered = answered.replace(whole, () => `\`\`\`sh\n${command}\n\`\`\`\n\n\`\`\`text\n${output}\`\`\``)
  }
  await expect(answered).toMatchFileSnapshot(join(root, 'docs/exports.md'))
  expect(examples.length).toBeGreaterThanOrEqual(4)
})

const settings = { chart: () => ({ code: null, name: null }), currency: 'EUR' }

test('the page lists every format with its file, and every column of the files for import', () => {
  const listed = tableRows(page).map(({ name }) => name)
  for (const name of formatNames) {
    expect(listed).toContain(name)
    expect(page).toContain(`| \`${name}\` | \`${formatOf(name, settings).file}\` |`)
  }
  for (const name of ['xero', 'quickbooks'] as const)
    for (const column of formatOf(name, settings).head.trim().split(','))
      expect(page).toContain(`\`${column}\``)
})

test('the page lists the columns of entries.csv in their order', () => {
  const columns = formatOf('csv', settings).head.trim().split(',')
  expect(page).toContain(`\n\n${columns.map((column) => `\`${column}\``).join(', ')}\n\n`)
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { parseJournalFile } from '../../src/config/journal-file.ts'
import { builtInAccounts } from '../../src/core/chart.ts'
import type { Books } from '../support/books.ts'
import { at } from '../support/evidence.ts'
import { openExampleBooks } from '../support/example-books.ts'
import { fences } from '../support/markdown.ts'
import { addJournal } from '../support/unsigned.ts'
import { readText } from './pages.ts'

const examples = fences(readText('docs/journals-by-hand.md').split('\n## Examples\n')[1] ?? '')
  .filter(({ language }) => language === 'yaml')
  .map(({ text }) => text)

let books: Books
beforeAll(async () => {
  books = await openExampleBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

test('every example is booked', async () => {
  const accountPatterns = [...builtInAccounts(['base', 'arbitrum']), 'assets:bank:main', 'income:unclaimed']
  const keys: string[] = []
  for (const example of examples) {
    const { file, faults } = parseJournalFile(example)
    expect(faults).toEqual([])
    if (file === null) continue
    const deps = { db: books.owner, accountPatterns, guards: [], now: at(3 * 24 * 60) }
    const journal = await addJournal(deps, file, { by: 'erin', approvedBy: 'max' })
    keys.push(journal.key.replace(/[0-9a-f]{32}/, '…'))
  }
  expect(keys).toEqual(['manual/bank-2026-0103', 'manual/…', 'manual/withdrawal-w-17'])
})

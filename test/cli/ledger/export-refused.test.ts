import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Books } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { temporaryFolder } from '../../support/folder.ts'

let books: Books

beforeAll(async () => {
  books = await openExampleBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const depositd = (line: string) => runCommand(line, { DATABASE_URL: books.url })

test.each([
  ['--format xls', '--format is "xls"; use csv, jsonl, hledger, beancount, journal-csv'],
  [
    '--format csv --account assets:bank',
    '--account: no account "assets:bank"; use one from "bin/depositd ledger balances", or a prefix up to a colon',
  ],
  ['--format csv --account assets:in_tran', '--account: no account "assets:in_tran"; '],
  ['--format csv --owner nobody', '--owner: no channel or wallet "nobody"; '],
  ['--format csv --from 2026-02-30', '--from is "2026-02-30"; give a day or a time, '],
  ['--format csv --to yesterday', '--to is "yesterday"; give a day or a time, '],
  ['--format csv --recorded-as-of 2026-01-01T00:00:00.0000001Z', '--recorded-as-of is '],
  ['--format csv --from 2026-01-02 --to 2026-01-01', 'the end is before --from; '],
  [
    '--format csv --to 2026-01-02 --as-of 2026-01-02',
    "error: option '--as-of <time>' cannot be used with option '--to <time>'",
  ],
  ['--format csv --period 2026-13', '--period is "2026-13"; give a month like 2026-01'],
])('%s is refused in one line', async (options, message) => {
  const folder = join(await temporaryFolder(), 'export')
  const { status, out, err } = await depositd(`ledger export ${options} --out ${folder}`)
  expect({ status, out }).toEqual({ status: 2, out: '' })
  expect(err).toContain(message)
  expect(err.trimEnd().split('\n')).toHaveLength(1)
})

test('a folder that has an export, or anything else, is left alone', async () => {
  const folder = join(await temporaryFolder(), 'export')
  expect(await depositd(`ledger export --format csv --out ${folder}`)).toMatchObject({ status: 0 })
  const again = await depositd(`ledger export --format csv --out ${folder}`)
  expect(again).toMatchObject({
    status: 2,
    err: expect.stringContaining('--out already contains a complete export'),
  })
  expect(readdirSync(folder).toSorted()).toEqual(['entries.csv', 'manifest.json'])
  const other = await temporaryFolder()
  writeFileSync(join(other, 'letter.txt'), 'dear')
  expect(await depositd(`ledger export --format csv --out ${other}`)).toMatchObject({
    status: 2,
    err: expect.stringContaining('--out is not empty'),
  })
  const file = join(other, 'letter.txt')
  expect(await depositd(`ledger export --format csv --out ${file}`)).toMatchObject({
    status: 2,
    err: expect.stringContaining('--out cannot be written'),
  })
})

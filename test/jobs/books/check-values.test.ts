import { afterEach, beforeAll, expect, test } from 'vitest'
import { checkValues } from '../../../src/jobs/books/check-values.ts'
import type { Books } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { openDemonstrationMonth } from '../../support/demonstration-month.ts'
import { tamper } from '../../support/tamper.ts'

let books: Books
const tables = ['valued_journal', 'valued_line', 'disposal', 'value_lot', 'price']

beforeAll(async () => {
  books = await openDemonstrationMonth()
  const line = 'ledger close 2026-01 --break-glass erin,max --force --reason month'
  expect(await runCommand(line, { DATABASE_URL: books.url })).toMatchObject({ status: 0 })
  await tamper(books, ...tables.map((table) => `create table kept_${table} as table ${table}`))
  return () => books[Symbol.asyncDispose]()
})
afterEach(() =>
  tamper(
    books,
    ...tables.flatMap((table) => [
      `delete from ${table}`,
      `insert into ${table} overriding system value select * from kept_${table}`,
    ]),
  ),
)

const check = () => checkValues.run(books.db, () => undefined)

test('values that were left alone are what their prices give', async () => {
  expect(await check()).toEqual({ findings: [], counted: { journals: 26 } })
})

const ofJournal = (journal: number) =>
  `valued_id = (select id from valued_journal where journal_id = ${journal})`
const ofMonth = (kind: string) => `valued_id = (select id from valued_journal where kind = '${kind}')`
const dearer = `update valued_line set price = price * 2, value = value * 2`

test.each<[string, string, RegExp[]]>([
  [
    'two lines that are altered, and still sum to zero',
    `update valued_line set value = value + case when line = 1 then 100 else -100 end where ${ofJournal(1)}`,
    [
      /^journal 1: stored is .*in_transit/,
      /^journal 1: stored is .*liabilities/,
      /^journal 1: its prices give/,
      /^journal 1/,
    ],
  ],
  [
    'another price, with the values that it gives',
    `${dearer} where ${ofJournal(19)}`,
    [/^journal 19: the price .* is not among the imported prices of its time$/],
  ],
  [
    'a price that was altered afterwards',
    `update price set price = 2 where source = 'desk'`,
    [/not among the imported/],
  ],
  [
    'all lines of a journal twice',
    `insert into valued_line select valued_id, line + 100, account, asset, units, value, price, price_at, price_source
      from valued_line where ${ofJournal(1)}`,
    [/^journal 1: stored is line 3: assets:in_transit/],
  ],
  [
    'a journal without values',
    `delete from valued_journal where journal_id = 3`,
    [/^journal 3 has no values$/],
  ],
  [
    'a disposal at another cost',
    `update disposal set cost = cost + 1, proceeds = proceeds + 1 where line = 2`,
    [/^journal 30: stored is disposal 2/, /^journal 30: its prices give disposal 2/],
  ],
  [
    'a lot that is carried at another cost',
    `update value_lot set cost = cost + 1 where units > 0`,
    [/^lots: stored is/],
  ],
  [
    'a revaluation that is altered, and brought back as much',
    `update valued_line set value = value + case when line = 1 then 100 else 0 end where ${ofMonth('revaluation')};
      update valued_line set value = value - case when line = 1 then 100 else 0 end where ${ofMonth('revaluation_back')}`,
    [/^revaluation of 2026-01: assets:forwarded:.* is not at its market value$/],
  ],
  [
    'a revaluation that is not brought back',
    `delete from valued_line where ${ofMonth('revaluation_back')} and line = 1`,
    [/^revaluation of 2026-01: assets:forwarded:.* is not brought back$/],
  ],
])('the check finds %s', async (_what, statements, patterns) => {
  await tamper(books, ...statements.split(';'))
  const { findings } = await check()
  for (const pattern of patterns) expect(findings).toContainEqual(expect.stringMatching(pattern))
})

import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { inTransaction } from '../../../src/store/database.ts'
import { workOnCases } from '../../../src/store/mismatches/cases.ts'
import type { Books } from '../../support/books.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { addPeople, runDecided } from '../../support/people.ts'

let books: Books

/** Of January 2026; three severe mismatches are open. */
beforeEach(async () => {
  books = await openExampleBooks()
  onTestFinished(() => books[Symbol.asyncDispose]())
  await addPeople(books.owner)
})

const depositd = (line: string) => runDecided(line, { DATABASE_URL: books.url })

/** Ends what is severe, so that a month closes without force. */
async function resolveAll(): Promise<void> {
  const { rows } = await sql<{ id: bigint }>`select id from open_mismatch`.execute(books.db)
  const act = { action: 'resolved', text: 'done', actor: 'max', decision: null } as const
  const ids = rows.map(({ id }) => id)
  await inTransaction(books.owner, (tx) => workOnCases(tx, ids, act))
}

const timeless = (text: string) =>
  text.replaceAll(/[0-9a-f]{64}/g, 'HASH').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')

test('a month is closed, listed, opened again and closed anew, and its history tells of it', async () => {
  await resolveAll()
  const closed = await depositd('ledger close 2026-01')
  expect({ ...closed, out: timeless(closed.out) }).toEqual({
    status: 0,
    out: '2026-01 is closed, by erin, decision 3\ntrial balance of 16 lines, SHA-256 HASH\n',
    err: '',
  })
  const reopened = await depositd('ledger reopen 2026-01 --reason late-invoice')
  expect(reopened.out).toMatch(/^2026-01 is reopened, by erin, approved by max, decision \d+\n$/)
  expect((await depositd('ledger close 2026-01 --soft')).out).toBe(
    '2026-01 is soft-closed, by erin, decision 5\n',
  )
  await depositd('ledger close 2026-01 --break-glass max --reason monthly')
  expect((await depositd('ledger reopen 2026-01 --break-glass erin --reason x')).err).toBe(
    'depositd: this takes two people; name both: --break-glass erin,max; nothing was decided\n',
  )
  expect((await depositd('ledger reopen 2026-01 --break-glass erin,ERIN --reason x')).err).toBe(
    'depositd: ERIN cannot approve their own decision; name another person; nothing was decided\n',
  )
  const list = (await depositd('ledger periods')).out.split('\n')
  expect(list[0]).toBe(timeless(list[0] ?? ''))
  expect(list.at(-2)).toMatch(/^2026-01 {2}closed +17 +0 +1 {2}max +[0-9a-f]{64}$/)
  expect(list[1]).toMatch(/^\d{4}-\d\d {2}open +0 +0 +0$/)
  expect(timeless((await depositd('ledger periods --history')).out)).toMatchInlineSnapshot(`
    "AT                        MONTH    WHAT         BY         DECISION    WHY
    TIME  2026-01  closed       max        not signed  monthly
    TIME  2026-01  soft_closed  erin       5
    TIME  2026-01  reopened     erin, max  4           late-invoice
    TIME  2026-01  closed       erin       3
    "
  `)
})

test('what is printed as JSON has all that the views have', async () => {
  await resolveAll()
  const closed = JSON.parse((await depositd('ledger close 2026-01 --json')).out)
  expect(closed).toMatchObject({ period: '2026-01', action: 'closed', severe_open: 0, lines: 16 })
  const { items } = JSON.parse((await depositd('ledger periods --json --limit 1000')).out) as {
    items: object[]
  }
  expect(items.at(-1)).toMatchObject({
    period: '2026-01',
    state: 'closed',
    closed_by: 'erin',
    approved_by: null,
    sha256: closed.sha256,
    reopened: '0',
  })
  expect(JSON.parse((await depositd('ledger periods --json --limit 1')).out).items).toHaveLength(1)
  expect(JSON.parse((await depositd('ledger periods --history --json')).out).items).toMatchObject([
    { period: '2026-01', action: 'closed', actor: 'erin', sha256: closed.sha256 },
  ])
})

test('severe mismatches refuse a close, and two people force it', async () => {
  const refused = await depositd('ledger close 2026-01')
  expect(refused).toEqual({
    status: 2,
    out: '',
    err: expect.stringMatching(
      /^depositd: severe mismatches up to the end of 2026-01 are open: \d; resolve those that .* --reason and a second person\n$/,
    ),
  })
  const forced = await depositd('ledger close 2026-01 --force --reason audit')
  expect(forced.status).toBe(0)
  expect(forced.out).toMatch(/\nopen severe mismatches up to the end of the month: \d\n$/)
  expect((await depositd('ledger periods')).out).toMatch(/erin, max +[0-9a-f]{64} forced\n$/)
})

test('a month is closed with broken seals that were noticed after it, and a warning says so', async () => {
  await resolveAll()
  await sql`insert into mismatch (subject, kind, severity, detail, opened_at)
    values ('seal/1', 'seal_broken', 'severe', '{}', '2026-02-01T00:00:00Z'),
      ('ledger/1', 'ledger_imbalance', 'severe', '{}', '2026-02-03T00:00:00Z')`.execute(books.db)
  const warning =
    'WARNING: later severe mismatches are open: ledger_imbalance 1, seal_broken 1; see "bin/depositd mismatches list --severity severe"\n'
  const soft = await depositd('ledger close 2026-01 --soft')
  expect(soft).toEqual({ status: 0, out: `2026-01 is soft-closed, by erin, decision 3\n${warning}`, err: '' })
  expect((await depositd('ledger close 2026-01')).out).toMatch(
    new RegExp(`SHA-256 [0-9a-f]{64}\n${warning}$`),
  )
  const reopened = await depositd('ledger reopen 2026-01 --reason x')
  expect(reopened.out).toMatch(/^2026-01 is reopened, by erin, approved by max, decision \d+\n$/)
  const again = await depositd('ledger close 2026-01 --json')
  expect(JSON.parse(again.out)).toMatchObject({
    severe_open: 0,
    severe_elsewhere: [
      { kind: 'ledger_imbalance', count: 1 },
      { kind: 'seal_broken', count: 1 },
    ],
  })
})

test.each([
  ['ledger close 2026-13', '"2026-13" is not a month; use the form 2026-01'],
  ['ledger close 2026-02', '2026-01 is not closed yet; close it first: months are closed in order'],
  [
    'ledger reopen 2026-01 --reason x',
    '2026-01 is open; see what is closed with "bin/depositd ledger periods"',
  ],
  ['ledger close 2026-01 --force', '--force requires a reason; give --reason'],
  [
    'ledger close 2026-01 --break-glass policy',
    '--break-glass is "policy"; give the name of a person, at most 100 characters',
  ],
  ['ledger close 2026-01 --reason ', '--reason is empty; give a text; it is stored permanently'],
])('%s is refused in one line that says why', async (line, problem) => {
  expect(await depositd(line)).toEqual({ status: 2, out: '', err: `depositd: ${problem}\n` })
})

test.each([
  ['ledger reopen 2026-01', "required option '--reason <text>' not specified"],
  ['ledger close 2026-01 --force --soft', "option '--force' cannot be used with option '--soft'"],
])('%s is refused before it runs', async (line, problem) => {
  expect(await depositd(line)).toEqual({ status: 2, out: '', err: `error: ${problem}\n` })
})

test('before a month was closed, nothing is in the history, and the months are open', async () => {
  expect((await depositd('ledger periods --history')).out).toBe('no month was closed yet\n')
  expect((await depositd('ledger periods')).out).toMatch(/\n2026-01 {2}open +17 +0 +0\n$/)
})

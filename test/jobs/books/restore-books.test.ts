import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { restoreBooks } from '../../../src/jobs/books/restore-books.ts'
import { verifyBooks } from '../../../src/jobs/books/verify-books.ts'
import type { Period } from '../../../src/ledger/period.ts'
import { openDatabase } from '../../../src/store/database.ts'
import { listBalances } from '../../../src/store/ledger/accounts.ts'
import { listJournals } from '../../../src/store/ledger/journals.ts'
import type { Tables } from '../../../src/store/tables.ts'
import type { Books } from '../../support/books.ts'
import { depositEvents } from '../../support/deposit-events.ts'
import { txId } from '../../support/evidence.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { people, problemOf } from '../../support/manual-journals.ts'
import { tamper } from '../../support/tamper.ts'
import { changePeriod } from '../../support/unsigned.ts'

let books: Books
/** The login of a command usually owns the tables. */
let owner: Kysely<Tables>

beforeEach(async () => {
  books = await openExampleBooks()
  owner = openDatabase<Tables>({ url: books.url, poolMax: 2, applicationName: 'test owner' })
})
afterEach(async () => {
  await owner.destroy()
  await books[Symbol.asyncDispose]()
})

const byHand = { ...people, reason: 'the disk was lost' }

const restore = (onProgress: (progress: { stage: string }) => void = () => undefined, holder = 'me') =>
  restoreBooks({ ...books.deps, db: owner }, { holder, people: byHand, journalsMax: 100, onProgress })

const differing = async () => {
  const { differences } = await verifyBooks(books.deps, { subjectsMax: 100, onProgress: () => undefined })
  return differences.map(({ subject, what, name, live, rebuilt }) => ({ subject, what, name, live, rebuilt }))
}

async function rowsOf(table: string): Promise<unknown[]> {
  const { rows } = await sql`select * from ${sql.table(table)} order by 1, 2`.execute(books.db)
  return rows
}

/** What is lost or wrong, and how many journals it takes to restore the books. */
const disasters: [string, number, ...string[]][] = [
  ['the state of a deposit', 0, `update deposit set state = 'reconciled' where service_id = 'dep_5'`],
  [
    'a deposit that was made up',
    0,
    `insert into deposit (group_id, service_id, state, matrix) select min(group_id), 'dep_9', 'observed', '{}' from deposit`,
  ],
  ['all deposits', 0, 'delete from deposit'],
  [
    'everything that follows from the evidence, besides the ledger',
    0,
    'delete from deposit',
    'delete from mismatch',
    'delete from evidence',
    'delete from link_key',
    'delete from evidence_group',
  ],
  ['groups alone', 0, 'delete from evidence_group'],
  ['links and observations', 0, 'delete from evidence', 'delete from link_key'],
  [
    'what an observation says',
    0,
    `update evidence set observation = jsonb_set(observation, '{amount}', '"1"') where observation ->> 'tx' = '${txId('pay6')}'`,
  ],
  [
    'a mismatch that was cleared',
    0,
    `update mismatch set cleared_at = now(), cleared_how = 'evidence' where kind = 'unreported'`,
  ],
  ['an amount in a journal', 2, 'update ledger_transfer set amount = amount + 7 where journal_id = 1'],
  [
    'the time of a journal',
    2,
    `update ledger_journal set event_at = event_at + interval '1 day' where id = 1`,
  ],
  [
    'a leg that was added to a journal',
    2,
    `insert into ledger_transfer select journal_id, 9, debit, credit, asset, 7, event_at, recorded_at, period
      from ledger_transfer where journal_id = 1 and leg = 1`,
  ],
  ['the legs of a journal', 2, 'delete from ledger_transfer where journal_id = 1'],
  [
    'a journal',
    1,
    'delete from ledger_transfer where journal_id = 1',
    'delete from ledger_journal where id = 1',
  ],
  ['the ledger', 15, 'delete from ledger_transfer', 'delete from ledger_journal'],
]

test.each(disasters)('%s: restored, with %i journals', async (_what, journals, ...statements) => {
  const balances = await listBalances(books.db)
  const ids = await sql`select id, transfer from deposit where transfer is not null order by id`.execute(
    books.db,
  )
  await tamper(books, ...statements)
  const [left, legs] = [await rowsOf('ledger_journal'), await rowsOf('ledger_transfer')]
  const restored = await restore()
  expect(await differing()).toEqual([])
  expect(restored).toMatchObject({ resumed: false, rows: 25, groups: 7 })
  expect(restored.journals.map(({ kind }) => kind)).toHaveLength(journals)
  expect(await rowsOf('ledger_journal')).toEqual(expect.arrayContaining(left))
  expect(await rowsOf('ledger_transfer')).toEqual(expect.arrayContaining(legs))
  expect((await listBalances(books.db)).filter(({ balance }) => !/^[0.]+$/.test(balance))).toEqual(
    balances.filter(({ balance }) => !/^[0.]+$/.test(balance)),
  )
  const after = await sql`select id, transfer from deposit where transfer is not null order by id`.execute(
    books.db,
  )
  expect(after.rows).toEqual(ids.rows)
  const { rows: homeless } = await sql`
    select group_id from deposit where group_id not in (select id from evidence_group)`.execute(books.db)
  expect(homeless).toEqual([])
  const byErin = await listJournals(books.db, { period: null, kind: null, by: 'erin', before: null }, 100)
  expect(byErin.map(({ id }) => id).toReversed()).toEqual(restored.journals.map(({ id }) => id))
  expect((await restore()).journals).toEqual([])
  expect(await differing()).toEqual([])
})

test.each(['read', 'decided'])(
  'a restore that was killed once rows were %s is continued by the next one',
  async (stage) => {
    await tamper(books, 'delete from ledger_transfer', 'delete from ledger_journal', 'delete from evidence')
    const dies = restore((progress) => {
      if (progress.stage === stage) throw new Error('killed')
    })
    await expect(dies).rejects.toThrow('killed')
    const booked = (await rowsOf('ledger_journal')).length
    expect(booked).toBe(stage === 'read' ? 0 : 15)
    const rest = await restore(undefined, 'another')
    expect(rest).toMatchObject({ resumed: true, rows: 0, groups: stage === 'read' ? 7 : 0 })
    expect(rest.journals).toHaveLength(15 - booked)
    expect(await differing()).toEqual([])
    expect(await restore()).toMatchObject({ resumed: false, rows: 25, journals: [] })
  },
)

test('a deposit that no evidence shows becomes part of another one, and an event says so', async () => {
  await tamper(
    books,
    `insert into deposit (group_id, service_id, state, matrix)
      select group_id, 'dep_9', 'observed', '{}' from deposit where service_id = 'dep_5'`,
  )
  await restore()
  const { rows } = await sql<{ id: bigint; into: string }>`
    select id, merged_into::text as into from deposit where merged_into is not null`.execute(books.db)
  const [merged] = rows
  expect(rows).toHaveLength(1)
  expect(await depositEvents(books, merged?.id ?? 0n)).toEqual([`deposit.merged ${merged?.into}`])
})

test('what a closed month lacks is booked late', async () => {
  const close = {
    period: '2026-01' as Period,
    action: 'closed',
    forced: true,
    reason: 'test',
    ...people,
  } as const
  await changePeriod(books.owner, close)
  await tamper(books, 'update ledger_transfer set amount = amount + 7 where journal_id = 1')
  const { journals } = await restore()
  expect(journals.map(({ key, period }) => `${key.replace(/\/base.*/, '')} ${period}`)).toEqual([
    'reversal/deposit 2026-02',
    'deposit 2026-02',
  ])
})

test('the role of the daemon cannot restore: it writes no decision, and alters no observation', async () => {
  const asDaemon = () =>
    restoreBooks(books.deps, { holder: 'me', people: byHand, journalsMax: 3, onProgress: () => undefined })
  await tamper(books, 'delete from deposit', 'delete from ledger_transfer', 'delete from ledger_journal')
  await expect(asDaemon()).rejects.toThrow('permission denied for table manual_journal')
  expect(await restore()).toMatchObject({ written: 15 })
  expect(await differing()).toEqual([])
  await tamper(
    books,
    `update evidence set observation = '{}' where inbox_id = (select min(inbox_id) from evidence)`,
  )
  await expect(asDaemon()).rejects.toMatchObject({ code: 'settings_bad' })
  const alter = `set depositd.restoring = 'on'; update evidence set observation = '{}'`
  await expect(sql.raw(alter).execute(books.db)).rejects.toThrow('evidence is append-only')
})

test('one person alone does not restore', async () => {
  const alone = restoreBooks(books.deps, {
    holder: 'me',
    people: { ...byHand, approvedBy: 'Erin' },
    journalsMax: 1,
    onProgress: () => undefined,
  })
  expect(await problemOf(alone)).toBe('Erin cannot approve their own decision')
})

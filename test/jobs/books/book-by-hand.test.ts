import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkJournal, type WrittenJournal } from '../../../src/jobs/books/book-by-hand.ts'
import { checkReversal } from '../../../src/jobs/books/reverse-by-hand.ts'
import { verifyBooks } from '../../../src/jobs/books/verify-books.ts'
import { openDatabase } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import type { Books } from '../../support/books.ts'
import { at } from '../../support/evidence.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { manualJournals, people, problemOf, written } from '../../support/manual-journals.ts'
import { addJournal, reverseJournal } from '../../support/unsigned.ts'

let books: Books
beforeAll(async () => {
  books = await openExampleBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const deps = () => manualJournals(books.owner)
const add = (changes: Partial<WrittenJournal> = {}) => addJournal(deps(), written(changes), people)
const reverse = (id: bigint, reason = 'paid twice') => reverseJournal(books.owner, id, { ...people, reason })

async function balanceOf(account: string): Promise<string> {
  const { rows } = await sql<{ sum: string }>`
    select coalesce(sum(balance_base), 0)::text as sum from accounting.balances where account = ${account}`.execute(
    books.db,
  )
  return rows[0]?.sum ?? ''
}

/** Closes the months, as the owner of the database, for as long as the work takes. */
async function shut<Result>(
  months: Record<string, 'closed' | 'soft_closed'>,
  work: () => Promise<Result>,
): Promise<Result> {
  const owner = openDatabase<Tables>({ url: books.url, poolMax: 1, applicationName: 'test owner' })
  const [periods, states] = [Object.keys(months), Object.values(months)]
  try {
    await sql`insert into ledger_period (period, state)
      select * from unnest(${periods}::date[], ${states}::text[])`.execute(owner)
    return await work()
  } finally {
    await sql`set session_replication_role = replica`.execute(owner)
    await sql`delete from ledger_period where period = any(${periods}::date[])`.execute(owner)
    await owner.destroy()
  }
}

test('a journal by hand is booked with its reason and both people, and is about no deposit', async () => {
  const journal = await add({ reference: 'first' })
  expect(journal).toMatchObject({
    key: 'manual/first',
    kind: 'manual',
    depositId: null,
    eventAt: at(24 * 60),
    period: '2026-01-01',
    byHand: { reason: 'The service paid what it owed', ...people },
    transfers: [{ debit: 'assets:bank:main', credit: 'assets:receivable:service', amount: 7_500_000n }],
  })
  expect(await balanceOf('assets:bank:main')).toBe('7500000')
  const { rows } = await sql`select made_by, approved_by, kind, reversed_by from accounting.manual_journals
    where journal_id = ${journal.id}`.execute(books.db)
  expect(rows).toEqual([{ made_by: 'erin', approved_by: 'max', kind: 'manual', reversed_by: null }])
})

test('of twenty that book the same at once one does, and the others are told of its number', async () => {
  const all = await Promise.allSettled(Array.from({ length: 20 }, () => add({ reason: 'all at once' })))
  const booked = all.filter(({ status }) => status === 'fulfilled')
  expect(booked).toHaveLength(1)
  const { id } = (booked[0] as PromiseFulfilledResult<{ id: bigint }>).value
  for (const one of all)
    if (one.status === 'rejected') expect(String(one.reason)).toContain(`already booked as journal ${id}`)
})

test('of twenty that reverse the same at once one does, and the others are told of its number', async () => {
  const { id } = await add({ reference: 'to-reverse' })
  const before = await balanceOf('assets:bank:main')
  const all = await Promise.allSettled(Array.from({ length: 20 }, () => reverse(id)))
  const done = all.filter(({ status }) => status === 'fulfilled')
  expect(done).toHaveLength(1)
  const reversal = (done[0] as PromiseFulfilledResult<{ id: bigint; eventAt: Date }>).value
  expect(reversal).toMatchObject({
    kind: 'reversal',
    reverses: id,
    eventAt: at(24 * 60),
    byHand: { reason: 'paid twice' },
  })
  for (const one of all)
    if (one.status === 'rejected')
      expect(String(one.reason)).toContain(`journal ${id} was already reversed by journal ${reversal.id}`)
  expect(BigInt(before) - BigInt(await balanceOf('assets:bank:main'))).toBe(7_500_000n)
})

const count = () => sql`select count(*) from ledger_journal`.execute(books.db).then(({ rows }) => rows)

test('what would be booked is shown without booking it', async () => {
  const before = await count()
  expect(await checkJournal(deps(), written({ reference: 'dry' }))).toMatchObject({
    key: 'manual/dry',
    period: '2026-01-01',
    transfers: [{ amount: 7_500_000n }],
  })
  expect(await count()).toEqual(before)
})

const line = { debit: 'assets:bank:main', credit: 'expenses:tolerance', asset: 'base/USDC', amount: '1' }
const noLine = 'the reason must be one line of 1 to 1000 characters'

test.each<[string, () => Promise<unknown>, string]>([
  [
    'one person for both',
    () => addJournal(deps(), written(), { by: 'Erin', approvedBy: 'erin' }),
    'erin cannot approve their own decision',
  ],
  [
    'an unknown account',
    () => add({ lines: [{ ...line, debit: 'assets:typo' }] }),
    'line 1 of the journal: account assets:typo does not exist: use an account of the books, or add it to the setting accounts.own',
  ],
  [
    'an unbalanced journal',
    () => add({ lines: [{ debit: 'assets:bank:main', asset: 'base/USDC', amount: '1' }] }),
    'base/USDC is not balanced: debits 1.000000, credits 0.000000',
  ],
  [
    'a pattern in place of an account',
    () => add({ lines: [{ ...line, credit: 'assets:stable_wallet:*' }] }),
    'line 1 of the journal: account assets:stable_wallet:* does not exist: use an account of the books, or add it to the setting accounts.own',
  ],
  [
    'what is in transit',
    () => add({ lines: [{ ...line, credit: 'assets:in_transit:base' }] }),
    'assets:in_transit:base cannot be booked by hand: amounts in transit follow from evidence',
  ],
  ['a reason that is too long', () => add({ reason: 'x'.repeat(1001) }), noLine],
  [
    'a reversal for a reason that is too long',
    () => checkReversal(books.owner, 1n, { reason: 'x'.repeat(1001) }),
    noLine,
  ],
  ['a date in the future', () => add({ date: at(4 * 24 * 60) }), '2026-01-05T00:00:00.000Z is in the future'],
  ['a journal that is not there', () => reverse(99_999n), 'there is no journal 99999'],
  [
    'a journal of a deposit',
    () => reverse(1n),
    'journal 1 follows from evidence and is reversed only when the evidence changes',
  ],
])('%s is refused', async (_what, work, problem) => {
  expect(await problemOf(work())).toBe(problem)
})

test('a reversal is not reversed', async () => {
  const { id } = await add({ reference: 'twice' })
  const reversal = await reverse(id)
  expect(await problemOf(reverse(reversal.id))).toBe(
    `journal ${reversal.id} is a reversal and cannot be reversed`,
  )
})

test('a closed month takes no journal, a soft-closed one does, and a reversal goes into the next open one', async () => {
  const { id } = await add({ reference: 'of-january' })
  await shut({ '2026-01-01': 'soft_closed' }, async () => {
    expect((await add({ reference: 'adjustment' })).period).toBe('2026-01-01')
  })
  await shut({ '2026-01-01': 'closed' }, async () => {
    expect(await problemOf(add({ reference: 'too-late' }))).toBe('2026-01 is closed')
    expect(await reverse(id)).toMatchObject({ period: '2026-02-01', eventAt: at(24 * 60) })
  })
})

test('what people book is left alone by whatever is decided anew', async () => {
  await add({ reference: 'stays' })
  const found = await verifyBooks(
    { ...books.deps, now: () => at(3 * 24 * 60) },
    { subjectsMax: 10, onProgress: () => undefined },
  )
  expect(found.differences).toEqual([])
  expect(found.live).toBe(found.rebuilt)
})

test.each<[string, string]>([
  [
    'without a reason',
    `insert into ledger_journal (posting_key, kind, event_at, period) values ('manual/x', 'manual', '2026-01-01', '2026-01-01')`,
  ],
  [
    'that takes back a journal of a deposit and names none',
    `insert into ledger_journal (posting_key, kind, reverses, event_at, period)
      select 'reversal/x', 'reversal', id, event_at, period from ledger_journal j where kind = 'deposit'
        and not exists (select from ledger_journal r where r.reverses = j.id) limit 1`,
  ],
  [
    'of one person',
    `with j as (insert into ledger_journal (posting_key, kind, event_at, period) values ('manual/x', 'manual', '2026-01-01', '2026-01-01') returning id)
      insert into manual_journal (journal_id, reason, made_by, approved_by) select id, 'why', 'erin', 'Erin' from j`,
  ],
  [
    'of a reason that comes later',
    `insert into manual_journal (journal_id, reason, made_by, approved_by)
      select id, 'why', 'erin', 'max' from ledger_journal where kind = 'deposit' limit 1`,
  ],
  ['of another reason', `update manual_journal set reason = 'another'`],
  ['of none any more', 'delete from manual_journal'],
])('Postgres refuses a journal %s', async (_what, statement) => {
  await expect(sql.raw(statement).execute(books.owner)).rejects.toThrow(/journal/)
})

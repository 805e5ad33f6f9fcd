import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { usdcOnBase } from '../../support/evidence.ts'
import { type Months, openMonths } from '../../support/months.ts'

let months: Months

beforeEach(async () => {
  months = await openMonths()
  onTestFinished(() => months[Symbol.asyncDispose]())
})

const thisMonth = new Date().toISOString().slice(0, 7)

test.each<[string, () => Promise<unknown>, string]>([
  ['the month that is running', () => months.close(thisMonth), `${thisMonth} is not over`],
  ['a month that is to come', () => months.soften('9999-01'), '9999-01 is not over'],
  ['a month before which one is open', () => months.close('2026-02'), '2026-01 is not closed yet'],
  ['a month before which one is open, softly', () => months.soften('2026-03'), '2026-01 is not closed yet'],
  [
    'a month twice',
    () => months.close('2026-01').then(() => months.close('2026-01')),
    '2026-01 is closed already',
  ],
  [
    'softly what is closed',
    () => months.close('2026-01').then(() => months.soften('2026-01')),
    '2026-01 is closed already',
  ],
  [
    'a month before the first closed',
    () => months.close('2026-01').then(() => months.close('2025-10')),
    '2025-10 is before the beginning of the books in 2026-01',
  ],
  [
    'softly twice',
    () => months.soften('2026-01').then(() => months.soften('2026-01')),
    '2026-01 is soft-closed already',
  ],
  [
    'a month behind one that is soft-closed',
    () => months.soften('2026-01').then(() => months.close('2026-02')),
    '2026-01 is not closed yet',
  ],
])('to close %s is refused', async (_what, attempt, problem) => {
  await months.book(months.journal('2026-01-10'), months.journal('2026-02-10'))
  await expect(attempt()).rejects.toMatchObject({ code: 'usage_bad', details: { problem } })
})

test('what is open is not opened again, nor a month behind which another is closed', async () => {
  await months.book(months.journal('2026-01-10'), months.journal('2026-02-10'))
  await expect(months.reopen('2026-01')).rejects.toMatchObject({ details: { problem: '2026-01 is open' } })
  await months.close('2026-01')
  await months.close('2026-02')
  await expect(months.reopen('2026-01')).rejects.toMatchObject({
    details: { problem: '2026-02 is closed too' },
  })
  await expect(months.reopen('2026-03')).rejects.toMatchObject({ details: { problem: '2026-03 is open' } })
})

test('severe mismatches of the month or before it refuse a close, unless it is forced by two with a reason', async () => {
  await months.book(months.journal('2026-01-10'))
  await months.severe('2026-02-01T00:00:00Z')
  expect(await months.soften('2026-01')).toMatchObject({ severeOpen: 0 })
  await months.severe('2026-01-31T23:59:59Z')
  await months.severe('2025-12-01T00:00:00Z')
  await expect(months.close('2026-01')).rejects.toMatchObject({
    details: { problem: 'severe mismatches up to the end of 2026-01 are open: 2' },
  })
  await expect(months.close('2026-01', { forced: true })).rejects.toThrow('check')
  await expect(
    months.close('2026-01', { forced: true, approvedBy: 'Erin', reason: 'audit' }),
  ).rejects.toThrow('check')
  expect(await months.states()).toContain('2026-01 soft_closed 1 0 0')
  await months.close('2026-01', { forced: true, approvedBy: 'max', reason: 'the auditor waits' })
  const [line] = await months.rowsOf(
    `select forced, severe_open, closed_by, approved_by, reason from accounting.periods limit 1`,
  )
  expect(line).toEqual({
    forced: true,
    severe_open: 2,
    closed_by: 'erin',
    approved_by: 'max',
    reason: 'the auditor waits',
  })
})

test('a severe mismatch of a deposit counts in the month of its payment, whenever it was noticed', async () => {
  await sql`update deposit set deposited_at = '2026-01-31T23:00:00Z' where id = 1`.execute(months.books.db)
  await months.severe('2026-05-01T00:00:00Z')
  await sql`update mismatch set deposit_id = 1`.execute(months.books.db)
  await expect(months.close('2025-12')).resolves.toMatchObject({ severeOpen: 0 })
  await expect(months.close('2026-01')).rejects.toThrow('are open: 1')
})

test('a close that would not have to be forced is not', async () => {
  await months.close('2026-01', { forced: true, approvedBy: 'max', reason: 'to be sure' })
  expect(await months.rowsOf(`select forced from accounting.period_history`)).toEqual([{ forced: false }])
})

test.each(['the daemon', 'the owner'])('%s changes neither history nor what is frozen', async (who) => {
  await months.book(months.journal('2026-01-10'))
  await months.close('2026-01')
  const db = who === 'the daemon' ? months.books.db : months.owner
  for (const table of ['ledger_period_event', 'ledger_period_balance']) {
    for (const statement of [`delete from ${table}`, `truncate ${table} cascade`])
      await expect(sql.raw(statement).execute(db)).rejects.toThrow(/append-only|permission denied/)
  }
  const refusal = /append-only|permission denied/
  await expect(sql`update ledger_period_event set actor = 'max'`.execute(db)).rejects.toThrow(refusal)
  await expect(sql`update ledger_period_balance set debit = 1`.execute(db)).rejects.toThrow(refusal)
  await sql`insert into ledger_account (id, asset) values ('equity:x', ${usdcOnBase})`.execute(
    months.books.db,
  )
  const late = sql`insert into ledger_period_balance
    select id, 'equity:x', ${usdcOnBase}, 1, 0 from ledger_period_event`.execute(db)
  await expect(late).rejects.toThrow(/already closed|permission denied/)
})

test.each([
  ['a close without a hash', "'2026-01-01', 'closed', 'erin', null, null, null"],
  ['a soft close with one', `'2026-01-01', 'soft_closed', 'erin', null, null, '${'0'.repeat(64)}'`],
  ['a day that is not the first', "'2026-01-02', 'soft_closed', 'erin', null, null, null"],
  ['nobody', "'2026-01-01', 'soft_closed', '', null, null, null"],
])('the database refuses %s', async (_what, values) => {
  const attempt = sql.raw(
    `insert into ledger_period_event (period, action, actor, approved_by, reason, sha256) values (${values})`,
  )
  await expect(attempt.execute(months.owner)).rejects.toThrow('check')
})

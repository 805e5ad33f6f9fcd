import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { AccountId } from '../../../src/core/chart.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { bookJournals } from '../../../src/store/ledger/journals.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { type Months, openMonths, owed } from '../../support/months.ts'
import { until } from '../../support/until.ts'
import { untilWaiting } from '../../support/waiting.ts'

let months: Months

beforeEach(async () => {
  months = await openMonths()
  onTestFinished(() => months[Symbol.asyncDispose]())
})

test('a close freezes what was booked up to its end, and what comes later goes into the next month and says so', async () => {
  await months.book(
    months.journal('2025-12-31', 1n),
    months.journal('2026-01-10', 2n),
    months.journal('2026-02-01', 4n),
  )
  await months.close('2025-12')
  const { lines, sha256 } = await months.close('2026-01')
  expect(lines).toBe(2)
  const closed = await months.rowsOf(
    `select data ->> 'sha256' as sha256 from event_pending where type = 'period.closed'`,
  )
  expect(closed.slice(1)).toEqual([{ sha256 }])
  await months.book(months.journal('2026-01-20', 8n), months.journal('2025-11-05', 16n))
  expect(await months.states()).toEqual([
    '2025-12 closed 1 0 0',
    '2026-01 closed 1 0 0',
    '2026-02 open 3 2 0',
    '2026-03 open 0 0 0',
  ])
  const late = await months.rowsOf(`select belongs_to, period from accounting.late_items order by journal_id`)
  expect(late).toEqual([
    { belongs_to: '2026-01-01', period: '2026-02-01' },
    { belongs_to: '2025-11-01', period: '2026-02-01' },
  ])
  const entries = await months.rowsOf(
    `select belongs_to, period, amount_base::text from accounting.entries where amount_base >= 8 order by 3`,
  )
  expect(entries).toEqual([
    { belongs_to: '2025-11-01', period: '2026-02-01', amount_base: '16' },
    { belongs_to: '2026-01-01', period: '2026-02-01', amount_base: '8' },
  ])
  const frozen = await months.rowsOf(
    `select account, debit_base::text, credit_base::text, balance::text from accounting.period_balances
      where period = '2026-01-01' and stands and closing = 1 order by account`,
  )
  expect(frozen).toEqual([
    { account: 'assets:in_transit:base', debit_base: '3', credit_base: '0', balance: '0.000003' },
    { account: owed, debit_base: '0', credit_base: '3', balance: '-0.000003' },
  ])
  expect(await months.rowsOf(`select sha256 from accounting.periods where period = '2026-01-01'`)).toEqual([
    { sha256 },
  ])
  expect(await months.findings()).toEqual([])
})

test('what takes a late journal back stands with it, though its own month was opened again meanwhile', async () => {
  await months.close('2026-01')
  const late = months.journal('2026-01-20', 8n)
  await months.book(late)
  await months.reopen('2026-01')
  const [line] = late.transfers
  if (line === undefined) throw new Error('a journal has a line')
  const back = { ...line, debit: line.credit, credit: line.debit }
  await months.book({ ...late, key: 'back', kind: 'reversal', reverses: late.key, transfers: [back] })
  expect(await months.states()).toEqual(['2026-01 open 0 0 1', '2026-02 open 2 2 0', '2026-03 open 0 0 0'])
})

test('the hash is that of what COPY writes, also with names that COPY escapes', async () => {
  const odd = 'liabilities:deposits:channel:a\tb\\c\nd\re\u{1f600}\uff5e' as AccountId
  await months.book(months.journal('2026-01-10', 2n), months.journal('2026-01-11', 3n, odd))
  const { sha256 } = await months.close('2026-01')
  const file = join(await temporaryFolder(), 'balance')
  await sql
    .raw(`copy (select '2026-01', account, asset, debit_base, credit_base from accounting.period_balances
      order by account collate "C", asset collate "C") to program 'cat > ${file}'`)
    .execute(months.owner)
  expect(createHash('sha256').update(readFileSync(file)).digest('hex')).toBe(sha256)
})

test('a month without a journal closes with nothing', async () => {
  expect(await months.close('2026-01')).toMatchObject({
    lines: 0,
    sha256: createHash('sha256').digest('hex'),
  })
  await months.book(months.journal('2025-06-05'))
  expect(await months.states()).toEqual(['2026-01 closed 0 0 0', '2026-02 open 1 1 0', '2026-03 open 0 0 0'])
})

test('into a month that is soft-closed only adjustments are booked', async () => {
  await months.book(months.journal('2026-01-10'))
  await months.soften('2026-01')
  await months.book(months.journal('2026-01-11'))
  expect(await months.states()).toEqual([
    '2026-01 soft_closed 1 0 0',
    '2026-02 open 1 1 0',
    '2026-03 open 0 0 0',
  ])
  const [row] = await months.rowsOf(
    `select ledger_period_for('2026-01-11Z', true) as adjusted, ledger_period_for('2025-01-11Z', true) as before`,
  )
  expect(row).toEqual({ adjusted: '2026-01-01', before: '2025-01-01' })
})

test('a month that is opened again takes what belongs to it, and both closes stay proved and counted', async () => {
  await months.book(months.journal('2026-01-10'))
  const first = await months.close('2026-01')
  await months.reopen('2026-01')
  await months.book(months.journal('2026-01-11', 7n))
  expect(await months.states()).toContain('2026-01 open 2 0 1')
  const second = await months.close('2026-01')
  expect(second.sha256).not.toBe(first.sha256)
  await months.reopen('2026-01')
  await months.close('2026-01')
  expect(await months.states()).toContain('2026-01 closed 2 0 2')
  const history = await months.rowsOf<{ text: string }>(
    `select concat_ws(' ', action, actor, approved_by, reason) as text from accounting.period_history order by id`,
  )
  expect(history.map(({ text }) => text)).toEqual([
    'closed erin',
    'reopened erin max a late invoice',
    'closed erin',
    'reopened erin max a late invoice',
    'closed erin',
  ])
  const stand = await months.rowsOf(
    `select closing, stands, debit_base::text from accounting.period_balances where account like 'assets:%' order by 1`,
  )
  expect(stand).toEqual([
    { closing: 1n, stands: false, debit_base: '5' },
    { closing: 2n, stands: false, debit_base: '12' },
    { closing: 3n, stands: true, debit_base: '12' },
  ])
  expect(await months.findings()).toEqual([])
})

test('twenty who book while a month is closed lose nothing, and nothing is split', async () => {
  await months.book(months.journal('2026-01-10', 1n))
  let isClosed = false
  let booked = 1
  const writers = Array.from({ length: 20 }, async () => {
    for (let after = 0; after < 3; after += isClosed ? 1 : 0) {
      await months.book(months.journal('2026-01-10', 1n), months.journal('2026-01-11', 1n))
      booked += 2
    }
  })
  await until('a hundred bookings', () => (booked > 100 ? booked : null))
  await months.close('2026-01')
  isClosed = true
  await Promise.all(writers)
  const [all] = await months.rowsOf<{ month: bigint; next: bigint; split: bigint; frozen: bigint }>(`
    select count(*) filter (where period = '2026-01-01') as month,
      count(*) filter (where period = '2026-02-01') as next,
      (select count(*) from ledger_journal j join ledger_transfer t on t.journal_id = j.id where t.period <> j.period) as split,
      (select debit_base::bigint from accounting.period_balances where account like 'assets:%') as frozen
    from ledger_journal`)
  expect(all?.split).toBe(0n)
  expect(all?.month).toBe(all?.frozen)
  expect((all?.month ?? 0n) + (all?.next ?? 0n)).toBe(BigInt(booked))
  expect(all?.next).toBeGreaterThanOrEqual(120n)
  expect(await months.findings()).toEqual([])
})

test('a close waits for who is writing, and counts what was written', async () => {
  await months.book(months.journal('2026-01-10', 1n))
  const closing = await inTransaction(months.books.db, async (tx) => {
    await bookJournals(tx, [months.journal('2026-01-11', 2n)])
    const done = months.close('2026-01')
    await untilWaiting(months.books.db)
    return { done }
  })
  await closing.done
  const [frozen] = await months.rowsOf(
    `select debit_base::text as debit from accounting.period_balances where debit > 0`,
  )
  expect(frozen).toEqual({ debit: '3' })
})

test('of twenty who close one month at once, one does', async () => {
  await months.book(months.journal('2026-01-10'))
  const race = await Promise.allSettled(Array.from({ length: 20 }, () => months.close('2026-01')))
  expect(race.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const lost = race.filter((one) => one.status === 'rejected').map((one) => String(one.reason))
  expect(new Set(lost.map((text) => text.includes('2026-01 is closed already')))).toEqual(new Set([true]))
  expect(await months.rowsOf('select from ledger_period_event')).toHaveLength(1)
})

test('what leaves a wallet is no adjustment: from a soft-closed month it goes into the next one', async () => {
  await months.book(months.journal('2026-01-10'))
  await months.soften('2026-01')
  const withdrawal = { ...months.journal('2026-01-20'), kind: 'withdrawal', depositId: null }
  await months.book(withdrawal as never)
  expect(await months.states()).toEqual([
    '2026-01 soft_closed 1 0 0',
    '2026-02 open 1 1 0',
    '2026-03 open 0 0 0',
  ])
})

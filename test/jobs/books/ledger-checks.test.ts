import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { checkFrozenBalances } from '../../../src/jobs/books/ledger-checks.ts'
import { type Months, openMonths } from '../../support/months.ts'

let months: Months

beforeEach(async () => {
  months = await openMonths()
  onTestFinished(() => months[Symbol.asyncDispose]())
})

test.each([
  [
    'a frozen line',
    `update ledger_period_balance set debit = debit + 1 where debit > 0`,
    [
      /: assets:in_transit:base in base\/\S+: the frozen balance is debit 6, credit 0, the journals give debit 5, credit 0$/,
      /the frozen balances do not have the SHA-256 [0-9a-f]{64}$/,
    ],
  ],
  [
    'a frozen line that is gone',
    `delete from ledger_period_balance where debit > 0`,
    [/the frozen balance is nothing, the journals give debit 5/, /the frozen balances do not have/],
  ],
  [
    'the hash',
    `update ledger_period_event set sha256 = repeat('0', 64)`,
    [/the frozen balances do not have/, /the sums of the journals do not have/],
  ],
  [
    'a transfer of the month',
    `update ledger_transfer set amount = 4`,
    [
      /in_transit:base .* the journals give debit 4/,
      /channel:shop .* the journals give .* credit 4/,
      /sums of the journals do not have/,
    ],
  ],
  [
    'a journal that was slipped in',
    `insert into ledger_journal (posting_key, kind, deposit_id, transfer, event_at, period)
      select 'slipped', kind, deposit_id, transfer, event_at, period from ledger_journal`,
    [/^2026-01 is closed, but 1 journals were booked into it afterwards; the first is journal \d+$/],
  ],
  [
    'a journal that was slipped in before the first closed month',
    `insert into ledger_journal (posting_key, kind, deposit_id, transfer, event_at, period)
      select 'slipped', kind, deposit_id, transfer, '2025-01-01', '2025-01-01' from ledger_journal`,
    [/^2026-01 is closed, but 1 journals/],
  ],
])('the check finds %s', async (_what, statement, expected) => {
  await months.book(months.journal('2026-01-10'))
  await months.close('2026-01')
  expect(await checkFrozenBalances.run(months.books.db, () => undefined)).toEqual({
    findings: [],
    counted: { closes: 1, lines: 2 },
  })
  await months.tamper(statement)
  expect(await months.findings()).toEqual(expected.map((pattern) => expect.stringMatching(pattern)))
})

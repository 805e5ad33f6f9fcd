import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { builtInAccounts } from '../../../src/core/chart.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { type Months, openMonths } from '../../support/months.ts'
import { addJournal } from '../../support/unsigned.ts'
import { untilWaiting } from '../../support/waiting.ts'

let months: Months
beforeEach(async () => {
  months = await openMonths()
})
afterEach(() => months[Symbol.asyncDispose]())

const credit = 'assets:receivable:service'
const written = {
  date: new Date('2026-01-20T12:00:00Z'),
  reason: 'The service paid what it owed',
  lines: [{ debit: 'assets:bank:main', credit, asset: 'base/USDC', amount: '7.5' }],
}

test('a month that is closed after a journal was checked and before it is booked takes it no more', async () => {
  await months.book(months.journal('2026-01-10'))
  const accountPatterns = [...builtInAccounts(['base']), 'assets:bank:main']
  const people = { by: 'erin', approvedBy: 'max' }
  const adding = await inTransaction(months.owner, async (tx) => {
    // Readers pass: the journal is checked, and waits to open its accounts.
    await sql`lock table ledger_account in share row exclusive mode`.execute(tx)
    const deps = {
      db: months.books.owner,
      accountPatterns,
      guards: [],
      now: new Date('2026-02-10T00:00:00Z'),
    }
    const booked = addJournal(deps, written, people).catch((error: unknown) => error)
    await untilWaiting(months.closer)
    await months.close('2026-01')
    return { booked }
  })
  expect(await adding.booked).toMatchObject({ details: { problem: '2026-01 is closed' } })
  expect(await months.states()).toContain('2026-01 closed 1 0 0')
})

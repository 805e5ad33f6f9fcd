import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { AccountId } from '../../src/core/chart.ts'
import type { TransferRef } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import type { Journal } from '../../src/core/posting.ts'
import { type PeriodChangeResult } from '../../src/jobs/books/close-period.ts'
import { checkFrozenBalances } from '../../src/jobs/books/ledger-checks.ts'
import type { Period } from '../../src/ledger/period.ts'
import { inTransaction, openDatabase } from '../../src/store/database.ts'
import { bookJournals } from '../../src/store/ledger/journals.ts'
import type { PeriodChange } from '../../src/store/ledger/periods.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type Books, makeDeposit, openBooks } from './books.ts'
import { usdcOnBase } from './evidence.ts'
import { changePeriod } from './unsigned.ts'

export const owed = 'liabilities:deposits:channel:shop' as AccountId

/** Books whose months are closed and opened again. */
export type Months = AsyncDisposable & {
  books: Books
  /** The owner of the tables. */
  owner: Kysely<Tables>
  /** The role that writes decisions, beside those who book, with connections of its own. */
  closer: Kysely<Tables>
  /** A deposit of that day, of 5 units to the channel where nothing else is said. */
  journal: (day: string, amount?: bigint, credit?: AccountId) => Journal
  book: (...journals: Journal[]) => Promise<void>
  close: (period: string, changes?: Partial<PeriodChange>) => Promise<PeriodChangeResult>
  soften: (period: string) => Promise<PeriodChangeResult>
  reopen: (period: string) => Promise<PeriodChangeResult>
  /** A severe mismatch that nobody resolved. */
  severe: (openedAt: string) => Promise<void>
  rowsOf: <Row>(text: string) => Promise<Row[]>
  /** Month, state, journals, late ones among them, and how often it was reopened, up to March. */
  states: () => Promise<string[]>
  findings: () => Promise<string[]>
  /** Does what triggers refuse to everybody but a superuser. */
  tamper: (statement: string) => Promise<void>
}

export async function openMonths(): Promise<Months> {
  const books = await openBooks()
  const { url } = books
  const owner = openDatabase<Tables>({ url, poolMax: 2, applicationName: 'test owner' })
  const role = 'depositd_decider'
  const closer = openDatabase<Tables>({ url, poolMax: 20, applicationName: 'test closer', role })
  const depositId = await makeDeposit(books.db, 'base/tx/0')
  const change = async (
    period: string,
    action: PeriodChange['action'],
    changes: Partial<PeriodChange> = {},
  ) => {
    const decision = await makeDecision(owner)
    const who = { by: 'erin', approvedBy: null, decision, reason: null, forced: false }
    return changePeriod(closer, { period: period as Period, action, ...who, ...changes })
  }
  return {
    books,
    owner,
    closer,
    journal: (day, amount = 5n, credit = owed) => journalOf(depositId, { day, amount, credit }),
    book: (...journals) => inTransaction(books.db, (tx) => bookJournals(tx, journals)),
    close: (period, changes) => change(period, 'closed', changes),
    soften: (period) => change(period, 'soft_closed'),
    reopen: (period) => change(period, 'reopened', { approvedBy: 'max', reason: 'a late invoice' }),
    severe: (openedAt) => severe(books.db, openedAt),
    rowsOf: async <Row>(text: string) => (await sql.raw<Row>(text).execute(closer)).rows,
    states: () => states(closer),
    findings: async () => (await checkFrozenBalances.run(books.db, () => undefined)).findings,
    tamper: (statement) => tamper(owner, statement),
    async [Symbol.asyncDispose]() {
      await closer.destroy()
      await owner.destroy()
      await books[Symbol.asyncDispose]()
    },
  }
}

async function makeDecision(db: Kysely<Tables>): Promise<bigint> {
  const { rows } = await sql<{ id: bigint }>`
    insert into decision (uuid, kind, people, text) values (gen_random_uuid(), 'close', 1, '{}') returning id`.execute(
    db,
  )
  return rows[0]?.id ?? 0n
}

type Wanted = { day: string; amount: bigint; credit: AccountId }

function journalOf(depositId: bigint, { day, amount, credit }: Wanted): Journal {
  const debit = 'assets:in_transit:base' as AccountId
  const transfers = [{ debit, credit, asset: usdcOnBase, amount: amount as Amount }]
  const about = { kind: 'deposit', transfer: 'base/tx/0' as TransferRef, reverses: null, depositId } as const
  return { key: randomUUID(), eventAt: new Date(`${day}T12:00:00Z`), transfers, ...about }
}

async function severe(db: Kysely<Tables>, openedAt: string): Promise<void> {
  await sql`insert into mismatch (subject, kind, severity, detail, opened_at)
    values (${randomUUID()}, 'unreported', 'severe', '{}', ${openedAt})`.execute(db)
}

async function states(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select concat_ws(' ', to_char(period, 'YYYY-MM'), state, journals, late_journals, reopened) as text
    from accounting.periods where period < '2026-04-01' order by period`.execute(db)
  return rows.map(({ text }) => text)
}

function tamper(owner: Kysely<Tables>, statement: string): Promise<void> {
  return inTransaction(owner, async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    await sql.raw(statement).execute(tx)
  })
}

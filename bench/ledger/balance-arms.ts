import { type Kysely, sql } from 'kysely'
import { cutLedger, makeSnapshot } from '../../src/store/ledger/maintenance.ts'
import type { Tables } from '../../src/store/tables.ts'
import { asset, storeDeposit } from './made-journals.ts'

/** How balances as of two times are found in B8. */
export const arms = {
  ours: 'accounting.trial_balance: days that are over from snapshots, the rest from transfers',
  raw: 'the sum of all entries up to both times, over the same tables',
} as const

export type Arm = keyof typeof arms
export const armNames = Object.keys(arms) as Arm[]

export type Line = { account: string; asset: string; balance: string }

export const balances: Record<
  Arm,
  (db: Kysely<Tables>, asOf: Date, recordedAsOf: Date) => Promise<readonly Line[]>
> = {
  ours: async (db, asOf, recordedAsOf) => {
    const { rows } = await sql<Line>`
      select account, asset, balance_base::text as balance from accounting.trial_balance(${asOf}, ${recordedAsOf})
      order by 2, 1`.execute(db)
    return rows
  },
  raw: async (db, asOf, recordedAsOf) => {
    const { rows } = await sql<Line>`
      select account, asset, sum(amount)::text as balance from ledger_entry
      where event_at <= ${asOf} and recorded_at <= ${recordedAsOf} group by account, asset order by 2, 1`.execute(
      db,
    )
    return rows
  },
}

/** Over how many days the transfers were recorded by default; the last of them is yesterday. */
const daysDefault = 90

const perPiece = 250_000

/**
 * Fills the books with so many transfers, each recorded a few minutes after it happened, and one in fifty some days
 * after; then adds up the days that are over as the daemon does. They belong to the deposits from 1 on, in turn. Triggers are
 * off for the filling alone.
 */
export async function fillBooks(
  db: Kysely<Tables>,
  { transfers, deposits, days = daysDefault }: { transfers: number; deposits: number; days?: number },
  progress: (text: string) => void,
): Promise<void> {
  await storeDeposit(db)
  await sql`
    insert into ledger_account (id, asset)
    select 'liabilities:deposits:channel:channel-' || n, ${asset} from generate_series(0, 999) as n
    union all select 'assets:in_transit:base', ${asset}`.execute(db)
  for (let from = 0; from < transfers; from += perPiece) {
    await fillPiece(db, { from, to: Math.min(from + perPiece, transfers), all: transfers, deposits, days })
    progress(`B8 ${Math.min(from + perPiece, transfers)} of ${transfers} transfers are stored\n`)
  }
  await sql`vacuum analyze ledger_journal, ledger_transfer`.execute(db)
  await cutLedger(db)
  while ((await makeSnapshot(db)) !== null) continue
  await sql`vacuum analyze ledger_snapshot`.execute(db)
}

type Piece = { from: number; to: number; all: number; deposits: number; days: number }

async function fillPiece(db: Kysely<Tables>, { from, to, all, deposits, days }: Piece): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    await sql`
      with made as (
        select n, date_trunc('day', now()) - ${`${days} days`}::interval + n * (${`${days} days`}::interval / ${all}) as recorded
        from generate_series(${from}::bigint, ${to - 1}::bigint) as n
      ), happened as (
        select *, recorded - case when n % 50 = 0 then (n % 7) * interval '1 day' else interval '3 minutes' end as event from made
      ), journal as (
        insert into ledger_journal (posting_key, kind, deposit_id, transfer, event_at, recorded_at, period)
        select 'deposit/made/' || n, 'deposit', 1 + n % ${deposits}::bigint, 'base/made/' || n, event, recorded, ledger_month(event) from happened
        order by n returning id, posting_key, event_at, recorded_at, period
      )
      insert into ledger_transfer (journal_id, leg, debit, credit, asset, amount, event_at, recorded_at, period)
      select id, 1, 'assets:in_transit:base', 'liabilities:deposits:channel:channel-' || n % 1000, ${asset},
        1000000 + n % 997, event_at, recorded_at, period
      from journal cross join lateral (select substring(posting_key from 14)::bigint as n) as number`.execute(
      tx,
    )
  })
}

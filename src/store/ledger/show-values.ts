import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables.ts'

/** Balance in units of the asset, value in the currency; gains and rounding have no asset. Debits are positive. */
export type ValuedBalance = {
  account: string
  code: string | null
  asset: string | null
  asset_symbol: string | null
  balance: string | null
  balance_base: string
  currency: string
  value: string
}

/** Of the books of a month like `2026-01` and of earlier ones; null for all. */
export async function valuedBalances(db: Kysely<Tables>, period: string | null): Promise<ValuedBalance[]> {
  const { rows } = await sql<ValuedBalance>`
    select e.account, l.code, e.asset, e.asset_symbol, sum(e.amount)::text as balance,
      sum(e.amount_base)::text as balance_base, e.currency, sum(e.value)::text as value
    from accounting.valued_entries e left join accounting.accounts l on l.account = e.account
    where e.period <= coalesce(to_date(${period}, 'YYYY-MM'), 'infinity')
    group by e.account, l.code, e.asset, e.asset_symbol, e.currency
    having sum(e.amount_base) <> 0 or sum(e.value) <> 0
    order by e.account, e.asset nulls first`.execute(db)
  return rows
}

/** Journals of these books, as far as they are not valued. */
export async function countUnvalued(db: Kysely<Tables>, period: string | null): Promise<bigint> {
  const { rows } = await sql<{ count: bigint }>`
    select count(*) as count from accounting.journal
    where id > coalesce((select max(journal_id) from accounting.valued_entries), 0)
      and period <= coalesce(to_date(${period}, 'YYYY-MM'), 'infinity')`.execute(db)
  return rows[0]?.count ?? 0n
}

export type DisposalLine = {
  disposed_at: Date
  acquired_at: Date | null
  account: string
  asset_symbol: string
  asset: string
  amount: string
  currency: string
  proceeds: string
  cost: string
  gain: string
  journal_id: bigint
  acquired_by: bigint | null
  part: number
}

/** Inclusive texts that Postgres reads; null for no limit. */
export type DisposalSpan = { from: string | null; until: string | null }

export type DisposalKey = Pick<DisposalLine, 'disposed_at' | 'journal_id' | 'part'>

/** Oldest first. */
export async function listDisposals(
  db: Kysely<Tables>,
  { from, until }: DisposalSpan,
  { limit, after }: { limit: number; after: DisposalKey | null },
): Promise<DisposalLine[]> {
  const {
    disposed_at: at,
    journal_id: id,
    part,
  } = after ?? { disposed_at: null, journal_id: null, part: null }
  const { rows } = await sql<DisposalLine>`
    select disposed_at, acquired_at, account, asset_symbol, asset, amount::text as amount, currency,
      proceeds::text as proceeds, cost::text as cost, gain::text as gain, journal_id, acquired_by, part
    from accounting.disposals
    where disposed_at between coalesce(${from}::timestamptz, '-infinity') and coalesce(${until}::timestamptz, 'infinity')
      and (${at}::timestamptz is null or (disposed_at, journal_id, part) > (${at}::timestamptz, ${id}::bigint, ${part}::int))
    order by disposed_at, journal_id, part limit ${limit}`.execute(db)
  return rows
}

export type DisposalTotal = Pick<
  DisposalLine,
  'asset' | 'asset_symbol' | 'amount' | 'currency' | 'proceeds' | 'cost' | 'gain'
>

export async function totalDisposals(
  db: Kysely<Tables>,
  { from, until }: DisposalSpan,
): Promise<DisposalTotal[]> {
  const { rows } = await sql<DisposalTotal>`
    select asset, asset_symbol, sum(amount)::text as amount, currency, sum(proceeds)::text as proceeds,
      sum(cost)::text as cost, sum(gain)::text as gain
    from accounting.disposals
    where disposed_at between coalesce(${from}::timestamptz, '-infinity') and coalesce(${until}::timestamptz, 'infinity')
    group by asset, asset_symbol, currency order by asset_symbol, asset`.execute(db)
  return rows
}

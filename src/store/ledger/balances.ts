import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Tables } from '../tables.ts'

/** Cutoff times, as text that Postgres can parse; null for no cutoff. */
export type Moments = {
  asOf: string | null
  recordedAsOf: string | null
  /** A month like `2026-01`: selects its books and those of all months before it, whenever the events happened. */
  period?: string | null
}

/** Amounts are decimals in units of the asset, and with `_base` in its smallest units. Debit balances are positive. */
export type TrialBalanceLine = {
  account: string
  code: string | null
  asset: string
  asset_symbol: string
  debit: string
  credit: string
  balance: string
  debit_base: string
  credit_base: string
  balance_base: string
}

export type TrialBalance = { lines: TrialBalanceLine[]; totals: TrialBalanceLine[] }

/** At most `limit` lines, one per account and asset, and the sum over all accounts of each asset. */
export async function trialBalance(
  db: Kysely<Tables>,
  moments: Moments,
  limit?: number,
): Promise<TrialBalance> {
  const { rows } = await sql<TrialBalanceLine & { is_sum: boolean }>`
    with line as materialized (
      select t.account, l.code, t.asset, t.asset_symbol, t.debit, t.credit, t.balance, t.debit_base, t.credit_base,
        t.balance_base
      from ${balancesOf(moments)} t
        left join accounting.accounts l on l.account = t.account
    )
    (select account, code, asset, asset_symbol, debit::text as debit, credit::text as credit,
      balance::text as balance, debit_base::text as debit_base, credit_base::text as credit_base,
      balance_base::text as balance_base, false as is_sum from line order by line.asset, line.account limit ${limit ?? null}::bigint)
    union all
    select '= sum', null, asset, min(asset_symbol), sum(debit)::text, sum(credit)::text, sum(balance)::text,
      sum(debit_base)::text, sum(credit_base)::text, sum(balance_base)::text, true
    from line group by asset
    order by asset, is_sum, account`.execute(db)
  const of = (wanted: boolean) =>
    rows.filter((row) => row.is_sum === wanted).map(({ is_sum: _kind, ...line }) => line)
  return { lines: of(false), totals: of(true) }
}

function balancesOf({ asOf, recordedAsOf, period = null }: Moments): RawBuilder<unknown> {
  const recorded = sql`coalesce(${recordedAsOf}::timestamptz, 'infinity')`
  if (period !== null) return sql`accounting.trial_balance_of(to_date(${period}, 'YYYY-MM'), ${recorded})`
  return sql`accounting.trial_balance(coalesce(${asOf}::timestamptz, 'infinity'), ${recorded})`
}

/** A line of an owner's statement: the amount owed at the beginning, a change, or the amount owed at the end. */
export type StatementLine = {
  line: 'opening' | 'entry' | 'closing'
  event_at: Date
  recorded_at: Date | null
  journal_id: bigint | null
  kind: string | null
  deposit_id: bigint | null
  account: string
  asset: string
  asset_symbol: string
  amount: string | null
  balance: string
  amount_base: string | null
  balance_base: string
}

/** A line with its sort key, which is unique. */
export type StatedLine = StatementLine & { key: readonly string[] }

export type StatementWish = {
  owner: string
  from: string
  before: string
  limit: number
  /** Only the lines after the one with this key. */
  after?: readonly string[] | null
}

/** For each account and asset of the owner: the opening, the entries, and the closing. */
export async function readStatement(
  db: Kysely<Tables>,
  { owner, from, before, limit, after = null }: StatementWish,
): Promise<StatedLine[]> {
  const [account = '', asset = '', part = '0', eventAt = from, journalId = '0', repeat = '0'] = after ?? []
  const { rows } = await sql<StatedLine>`
    select line, event_at, recorded_at, journal_id, kind, deposit_id, account, asset, asset_symbol,
      amount::text as amount, balance::text as balance, amount_base::text as amount_base,
      balance_base::text as balance_base,
      array[account, asset, part::text, event_at::text, coalesce(journal_id, 0)::text, repeat::text] as key
    from (
      select *, array_position(array['opening', 'entry', 'closing'], line) as part,
        row_number() over (partition by account, asset, line, journal_id order by place) as repeat
      from (
        select *, row_number() over () as place
        from accounting.statement(${owner}, ${from}::timestamptz, ${before}::timestamptz)
      ) as placed
    ) as stated
    where ${after === null}::boolean or (account collate "C", asset collate "C", part, event_at, coalesce(journal_id, 0), repeat)
      > (${account}::text, ${asset}::text, ${part}::int, ${eventAt}::timestamptz, ${journalId}::bigint, ${repeat}::bigint)
    order by place limit ${limit}`.execute(db)
  return rows
}

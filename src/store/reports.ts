import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** What people ask of the books, as rows for a table or a JSON document. Amounts are decimal text. */

export type DepositLine = {
  id: string
  state: string
  owner: string
  network: string
  asset: string
  amount: string
  settlement: string
  deposited_at: Date | null
  mismatches: string
}

export type Filter = {
  limit: number
  state?: string | undefined
  network?: string | undefined
  owner?: string | undefined
}

export async function listDeposits(
  db: Kysely<Tables>,
  { limit, state, network, owner }: Filter,
): Promise<DepositLine[]> {
  const { rows } = await sql<DepositLine>`
    select d.id::text as id, d.state, coalesce(d.owner_id, '?') as owner, coalesce(d.network, '?') as network,
      coalesce(d.asset_symbol, '?') as asset, coalesce(d.amount::text, '?') as amount,
      concat_ws(' ', d.settlement_amount::text, d.settlement_asset_symbol, 'on ' || d.settlement_network) as settlement,
      d.deposited_at,
      (select coalesce(string_agg(m.kind, ', ' order by m.kind), '') from open_mismatch m
        where m.deposit_id = d.id) as mismatches
    from deposit_report d
    where (d.state = ${state ?? null} or (${state ?? null}::text is null and d.state <> 'ignored'))
      and (${network ?? null}::text is null or d.network = ${network ?? null})
      and (${owner ?? null}::text is null or d.owner_id = ${owner ?? null})
    order by d.id desc limit ${limit}`.execute(db)
  return rows
}

export type MismatchLine = {
  id: string
  kind: string
  severity: string
  subject: string
  network: string
  asset: string
  amount: string
  age: string
  opened_at: Date
  cleared_at: Date | null
  detail: Record<string, string>
}

export type MismatchFilter = { limit: number; kind?: string | undefined; all: boolean }

/** The open mismatches, the gravest and oldest first; with `all`, the ended ones after them. */
export async function listMismatches(
  db: Kysely<Tables>,
  { limit, kind, all }: MismatchFilter,
): Promise<MismatchLine[]> {
  const { rows } = await sql<MismatchLine>`
    select id::text as id, kind, severity, subject, coalesce(network, '') as network,
      coalesce(asset_symbol, '') as asset, coalesce(amount::text, '') as amount,
      date_trunc('second', age)::text as age, opened_at, cleared_at, detail
    from accounting.mismatches
    where (${all} or cleared_at is null) and (${kind ?? null}::text is null or kind = ${kind ?? null})
    order by cleared_at is not null, array_position(array['severe', 'warning', 'info'], severity), opened_at limit ${limit}`.execute(
    db,
  )
  return rows
}

export type BalanceLine = { account: string; asset: string; symbol: string; balance: string }

export async function listBalances(db: Kysely<Tables>): Promise<BalanceLine[]> {
  const { rows } = await sql<BalanceLine>`
    select account, asset, asset_symbol as symbol, balance::text as balance from accounting.balances
    order by asset, account`.execute(db)
  return rows
}

export type BalanceTotal = { asset: string; symbol: string; total: string }

/** The sum of all accounts of each asset: zero, as every transfer has two sides. */
export async function totalBalances(db: Kysely<Tables>): Promise<BalanceTotal[]> {
  const { rows } = await sql<BalanceTotal>`
    select asset, min(asset_symbol) as symbol, sum(balance)::text as total from accounting.balances
    group by asset order by asset`.execute(db)
  return rows
}

export type Summary = {
  states: { state: string; count: number }[]
  oldestOpenSeconds: number
  mismatches: { kind: string; count: number }[]
  isBalanced: boolean
}

/** How things stand, in a few numbers. */
export async function summarise(db: Kysely<Tables>): Promise<Summary> {
  const [states, oldest, mismatches, unbalanced] = await Promise.all([
    sql<{ state: string; count: number }>`
      select state, count(*)::int as count from deposit where merged_into is null group by state order by state`.execute(
      db,
    ),
    sql<{ seconds: number }>`
      select coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds from deposit
      where state in ('observed', 'confirmed', 'settling', 'settled') and merged_into is null`.execute(db),
    sql<{ kind: string; count: number }>`
      select kind, count(*)::int as count from open_mismatch group by kind order by kind`.execute(db),
    sql`select 1 from ledger_balance group by asset having sum(balance) <> 0`.execute(db),
  ])
  return {
    states: states.rows,
    oldestOpenSeconds: oldest.rows[0]?.seconds ?? 0,
    mismatches: mismatches.rows,
    isBalanced: unbalanced.rows.length === 0,
  }
}

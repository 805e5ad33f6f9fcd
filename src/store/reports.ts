import { type Kysely, type RawBuilder, sql } from 'kysely'
import { mismatchKinds } from '../core/mismatch.ts'
import { assetsIn, type NamedAssets } from './assets.ts'
import type { Tables } from './tables.ts'

/** Reports on the books, as rows for a table or a JSON document. Amounts are decimal text. */

export type DepositLine = {
  id: string
  state: string
  owner: string
  network: string
  asset_symbol: string
  asset: string | null
  amount: string
  amount_base: string | null
  /** The delivered amount as text; empty if nothing was delivered. */
  settlement: string
  settlement_network: string | null
  settlement_asset_symbol: string | null
  settlement_asset: string | null
  settlement_amount: string | null
  settlement_amount_base: string | null
  deposited_at: Date | null
  mismatches: string
}

export type Filter = {
  limit: number
  state?: string | undefined
  network?: string | undefined
  owner?: string | undefined
  /** Only lower ids: the page after one that ended with this id. */
  before?: bigint | undefined
}

export async function listDeposits(
  db: Kysely<Tables>,
  { limit, state, network, owner, before }: Filter,
): Promise<DepositLine[]> {
  const asked = [
    state === undefined ? sql`d.state <> 'ignored'` : sql`d.state = ${state}`,
    ...where(network, (name) => sql`d.network = ${name}`),
    ...where(owner, (id) => sql`d.owner_id = ${id} and d.owner_kind in ('channel', 'stable_wallet')`),
    ...where(before, (id) => sql`d.id < ${id}`),
  ]
  const { rows } = await sql<DepositLine>`
    select d.id::text as id, d.state, coalesce(d.owner_id, '?') as owner, coalesce(d.network, '?') as network,
      coalesce(d.asset_symbol, '?') as asset_symbol, d.asset, coalesce(d.amount::text, '?') as amount,
      d.amount_base::text as amount_base, d.settlement_network, d.settlement_asset_symbol, d.settlement_asset,
      d.settlement_amount::text as settlement_amount, d.settlement_amount_base::text as settlement_amount_base,
      case when d.settlement_amount is null then ''
        else concat_ws(' ', d.settlement_amount::text, d.settlement_asset_symbol, 'on ' || d.settlement_network) end as settlement,
      d.deposited_at,
      (select coalesce(string_agg(m.kind, ', ' order by m.kind), '') from open_mismatch m
        where m.deposit_id = d.id) as mismatches
    from deposit_report d
    where ${sql.join(asked, sql` and `)} order by d.id desc limit ${limit}`.execute(db)
  return rows
}

export type MismatchLine = {
  id: string
  kind: string
  severity: string
  subject: string
  network: string
  asset_symbol: string
  asset: string | null
  /** Amount of the deposit or chain transfer concerned. */
  amount: string
  amount_base: string | null
  /** The possible loss and its asset; null if there is none, or if it cannot be measured. */
  loss: string | null
  loss_base: string | null
  loss_asset: string | null
  loss_asset_symbol: string | null
  /** Rank of the loss: its value if its asset has a price, otherwise its share of the amount owed. */
  loss_value: string | null
  currency: string | null
  loss_share: string | null
  age: string
  status: 'open' | 'snoozed' | 'resolved' | 'cleared'
  assigned_to: string | null
  snoozed_until: Date | null
  opened_at: Date
  /** Deadline for action, and the time left until then, or `overdue`. Null and empty if the mismatch has ended. */
  act_by: Date | null
  act_in: string
  resolved_at: Date | null
  resolved_by: string | null
  reason: string | null
  cleared_at: Date | null
  detail: Record<string, string>
  /** Assets named in `detail` and in the loss, by key. Amounts in `detail` are in the smallest units. */
  assets: NamedAssets
}

export type MismatchFilter = {
  limit: number
  /** Only these, with any status. */
  ids?: readonly bigint[]
  kind?: string | undefined
  severity?: string | undefined
  network?: string | undefined
  /**
   * Newest first, instead of the most severe and the largest losses first. Among mismatches of every status, only this
   * order uses an index.
   */
  isNewestFirst?: boolean
  /** Only mismatches after this one: the page after one that ended with it. */
  after?: bigint | undefined
  /** A name, or `nobody`. */
  assigned?: string | undefined
  olderThanSeconds?: number
  /** Only mismatches past their deadline for action. */
  isOverdue?: boolean
  /** Includes snoozed mismatches, or mismatches of every status. */
  also: 'nothing' | 'snoozed' | 'all'
}

/** Open mismatches, the most severe and the largest losses first. With `also`, others follow. */
export async function listMismatches(
  db: Kysely<Tables>,
  { limit, ...filter }: MismatchFilter,
): Promise<MismatchLine[]> {
  const { rows } = await sql<MismatchLine>`
    select id::text as id, kind, severity, subject, coalesce(network, '') as network,
      coalesce(asset_symbol, '') as asset_symbol, asset, coalesce(amount::text, '') as amount, amount_base::text as amount_base,
      loss::text as loss, loss_base::text as loss_base, loss_asset, loss_asset_symbol,
      loss_value::text as loss_value, currency, loss_share::text as loss_share,
      date_trunc('second', age)::text as age, status, assigned_to, snoozed_until, opened_at,
      case when not has_ended then act_by end as act_by,
      case when has_ended then '' when act_by < now() then 'overdue'
        else coalesce(justify_hours(date_trunc('second', make_interval(secs => extract(epoch from act_by - now()))))::text, '')
        end as act_in,
      resolved_at, resolved_by, reason, cleared_at, detail,
      ${assetsIn(sql`concat_ws(' ', detail::text, loss_asset)`)} as assets
    from accounting.mismatches
      left join unnest(${kinds}::text[], ${hours}::integer[]) as due (kind, hours) using (kind)
      cross join lateral (select opened_at + make_interval(hours => hours) as act_by,
        status = any(${ended}::text[]) as has_ended) as acted
    where ${sql.join(wantedOf(filter), sql` and `)}
    order by ${filter.isNewestFirst === true ? newest : place} limit ${limit}`.execute(db)
  return rows
}

function wantedOf({
  also,
  ids,
  after,
  isNewestFirst,
  ...filter
}: Omit<MismatchFilter, 'limit'>): RawBuilder<unknown>[] {
  const { kind, severity, network, assigned, olderThanSeconds, isOverdue } = filter
  // Closed mismatches are many; open ones have an index of their own.
  const open = [
    sql`cleared_at is null`,
    sql`resolved_at is null`,
    sql`status = any(${heldOpen[also]}::text[])`,
  ]
  return [
    sql`true`,
    ...(also === 'all' ? [] : open),
    ...where(ids, (some) => sql`id = any(${some}::bigint[])`),
    ...where(after, (id) =>
      isNewestFirst === true
        ? sql`mismatches.id < ${id}`
        : sql`(${place}) > (select ${place} from accounting.mismatches where id = ${id})`,
    ),
    ...where(kind, (name) => sql`kind = ${name}`),
    ...where(severity, (name) => sql`severity = ${name}`),
    ...where(network, (name) => sql`network = ${name}`),
    ...where(assigned, (name) => sql`coalesce(assigned_to, 'nobody') = ${name}`),
    ...where(olderThanSeconds, (seconds) => sql`age >= make_interval(secs => ${seconds})`),
    ...(isOverdue === true ? [sql`act_by < now() and not has_ended`] : []),
  ]
}

const heldOpen = { nothing: ['open'], snoozed: ['open', 'snoozed'], all: [] }

/** Omits filters that are not set, so that those that are can use an index. */
function where<Value>(
  value: Value | undefined,
  condition: (value: Value) => RawBuilder<unknown>,
): RawBuilder<unknown>[] {
  return value === undefined ? [] : [condition(value)]
}

const unmeasured = Object.entries(mismatchKinds)
  .filter(([, { loss }]) => loss === 'unmeasured')
  .map(([kind]) => kind)

/**
 * Sort key of a mismatch, unique to it. Losses are compared by value; losses without a price by their share of the
 * amount owed, never by amounts of different assets. Losses that cannot be measured come before both.
 */
const place = sql`array_position(array['open', 'snoozed', 'resolved', 'cleared'], status),
  array_position(array['severe', 'warning', 'info'], severity), kind <> all(${unmeasured}::text[]),
  coalesce(-loss_value, 1), coalesce(-loss_share, 1), opened_at, mismatches.id`

const newest = sql`mismatches.id desc`

const kinds = Object.keys(mismatchKinds)
const hours = Object.values(mismatchKinds).map(({ actWithinHours }) => actWithinHours)

const ended = ['resolved', 'cleared']

/** In units of the asset, and with `_base` in its smallest units. */
export type AccountBalanceLine = {
  account: string
  asset: string
  asset_symbol: string
  balance: string
  balance_base: string
}

export async function listBalances(db: Kysely<Tables>): Promise<AccountBalanceLine[]> {
  const { rows } = await sql<AccountBalanceLine>`
    select account, asset, asset_symbol, balance::text as balance, balance_base::text as balance_base
    from accounting.balances
    order by asset, account`.execute(db)
  return rows
}

export type BalanceTotal = { asset: string; asset_symbol: string; total: string; total_base: string }

/** The sum of all accounts of each asset: zero, as every ledger transfer has two sides. */
export async function totalBalances(db: Kysely<Tables>): Promise<BalanceTotal[]> {
  const { rows } = await sql<BalanceTotal>`
    select asset, min(asset_symbol) as asset_symbol, sum(balance)::text as total, sum(balance_base)::text as total_base
    from accounting.balances
    group by asset order by asset`.execute(db)
  return rows
}

export type Summary = {
  states: { state: string; count: number }[]
  oldestOpenSeconds: number
  mismatches: { kind: string; count: number }[]
  isBalanced: boolean
}

/** Key figures. Ignored deposits are not counted. */
export async function summarise(db: Kysely<Tables>): Promise<Summary> {
  const [states, oldest, mismatches, unbalanced] = await Promise.all([
    sql<{ state: string; count: number }>`
      select state, count(*)::float8 as count from deposit
      where merged_into is null and state <> 'ignored' group by state order by state`.execute(db),
    sql<{ seconds: number }>`
      select coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as seconds from deposit
      where state in ('observed', 'confirmed', 'settling', 'settled') and merged_into is null`.execute(db),
    sql<{ kind: string; count: number }>`
      select kind, count(*)::int as count from open_mismatch group by kind order by kind`.execute(db),
    sql`
      select 1 from ledger_turnover('infinity', 'infinity') group by asset having sum(debit - credit) <> 0`.execute(
      db,
    ),
  ])
  return {
    states: states.rows,
    oldestOpenSeconds: oldest.rows[0]?.seconds ?? 0,
    mismatches: mismatches.rows,
    isBalanced: unbalanced.rows.length === 0,
  }
}

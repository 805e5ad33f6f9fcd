import { type Kysely, type RawBuilder, sql } from 'kysely'
import { type AccountLabel, gainAccounts, roundingAccount } from '../../core/chart.ts'
import { whereSet } from '../database.ts'
import type { Tables } from '../tables.ts'

/** As text that Postgres can parse; null for no cutoff. */
export type Moments = {
  asOf: string | null
  recordedAsOf: string | null
  /** A month like `2026-01`, with all months before it, whenever the events happened. */
  period?: string | null
}

/** In units of the asset; `_base` in base units. Debit balances are positive. */
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

/** `after` is the last account and asset of the previous page. */
export type LinesWish = { limit: number; after?: { asset: string; account: string } | null | undefined }

function follows(after: LinesWish['after']): RawBuilder<unknown> {
  const [last] = whereSet(after, ({ asset, account }) => sql`(asset, account) > (${asset}, ${account})`)
  return last ?? sql`true`
}

/** The rows of `accounting.balances`, from sums of days that are over and later transfers: the cost does not grow with entries. */
function currentBalances(accounts = sql`null::text[]`): RawBuilder<unknown> {
  return sql`(
    select t.account, t.asset, a.symbol as asset_symbol, accounting.in_units(t.debit - t.credit, a.decimals) as balance,
      t.debit - t.credit as balance_base
    from ledger_turnover('infinity', 'infinity', ${accounts}) t join asset a on a.key = t.asset
  ) as balances`
}

/** One line per account and asset, all by default. */
export async function trialBalance(
  db: Kysely<Tables>,
  moments: Moments,
  { limit, after }: Partial<LinesWish> = {},
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
      balance_base::text as balance_base, false as is_sum from line where ${follows(after)}
      order by line.asset, line.account limit ${limit ?? null}::bigint)
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

/** The opening, a change, or the closing. */
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

/** The key sorts lines and is unique. */
export type StatedLine = StatementLine & { key: readonly string[] }

export type StatementWish = {
  owner: string
  from: string
  before: string
  limit: number
  after?: readonly string[] | null
}

/** For each account and asset: the opening, the entries, the closing. */
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
        from accounting.statement(${owner}, ${from}::timestamptz, ${before}::timestamptz, ${after === null ? limit : null})
      ) as placed
    ) as stated
    where ${after === null}::boolean or (account collate "C", asset collate "C", part, event_at, coalesce(journal_id, 0), repeat)
      > (${account}::text, ${asset}::text, ${part}::int, ${eventAt}::timestamptz, ${journalId}::bigint, ${repeat}::bigint)
    order by place limit ${limit}`.execute(db)
  return rows
}

/** What is left at the end, for each account and asset. */
export async function readClosings(
  db: Kysely<Tables>,
  { owner, from, before }: Pick<StatementWish, 'owner' | 'from' | 'before'>,
): Promise<AccountBalanceLine[]> {
  const { rows } = await sql<AccountBalanceLine>`
    select account, asset, asset_symbol, balance::text as balance, balance_base::text as balance_base
    from accounting.statement(${owner}, ${from}::timestamptz, ${before}::timestamptz, 1)
    where line = 'closing'`.execute(db)
  return rows
}

/** In units of the asset; `_base` in base units. */
export type AccountBalanceLine = {
  account: string
  asset: string
  asset_symbol: string
  balance: string
  balance_base: string
}

/** One line per account and asset, all by default. */
export async function listBalances(
  db: Kysely<Tables>,
  { limit, after }: Partial<LinesWish> = {},
): Promise<AccountBalanceLine[]> {
  const { rows } = await sql<AccountBalanceLine>`
    with page as (
      select account, asset from (select id as account, asset from ledger_account) as known where ${follows(after)}
      order by asset, account limit ${limit ?? null}::bigint
    )
    select account, asset, asset_symbol, balance::text as balance, balance_base::text as balance_base
    from page join ${currentBalances(sql`(select array_agg(account) from page)`)} using (account, asset)
    order by asset, account`.execute(db)
  return rows
}

/** In a transaction, another caller waits until it ends: two journals cannot both spend what one of them may. */
export async function lockBalances(
  db: Kysely<Tables>,
  accounts: readonly string[],
): Promise<AccountBalanceLine[]> {
  await sql`select pg_advisory_xact_lock(hashtext('guarded balances'))`.execute(db)
  const { rows } = await sql<AccountBalanceLine>`
    select account, asset, asset_symbol, balance::text as balance, balance_base::text as balance_base
    from ${currentBalances(sql`${accounts}::text[]`)}`.execute(db)
  return rows
}

/** Accounts with a debit balance although credits increase them, and the other way round. */
export async function balancesOnOtherSide(db: Kysely<Tables>): Promise<AccountBalanceLine[]> {
  const { rows } = await sql<AccountBalanceLine>`
    select account, asset, asset_symbol, balance::text as balance, balance_base::text as balance_base
    from ${currentBalances()}
    where account not like 'trading:%' and balance_base * ledger_side_of(account) < 0
    order by account, asset`.execute(db)
  return rows
}

export type BalanceTotal = { asset: string; asset_symbol: string; total: string; total_base: string }

/** Always zero: every ledger transfer has two sides. From every entry, so that the command does not trust sums of days. */
export async function totalBalances(db: Kysely<Tables>): Promise<BalanceTotal[]> {
  const { rows } = await sql<BalanceTotal>`
    select asset, min(asset_symbol) as asset_symbol, sum(balance)::text as total, sum(balance_base)::text as total_base
    from accounting.balances
    group by asset order by asset`.execute(db)
  return rows
}

/** Safe to run concurrently. */
export async function keepAccountLabels(db: Kysely<Tables>, labels: readonly AccountLabel[]): Promise<void> {
  const [patterns, codes, names] = [
    labels.map(({ pattern }) => pattern),
    labels.map(({ code }) => code),
    labels.map(({ name }) => name),
  ]
  await sql`select keep_account_labels(${patterns}::text[], ${codes}::text[], ${names}::text[])`.execute(db)
}

/** The account and those below it: `assets:in_transit` matches every network's. */
export async function accountsUnder(db: Kysely<Tables>, account: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct id from ledger_account
    where id = ${account} or starts_with(id, ${`${account}:`}) order by id`.execute(db)
  return rows.map(({ id }) => id)
}

export async function isOwner(db: Kysely<Tables>, id: string): Promise<boolean> {
  const { rows } = await sql`
    select from owner where (kind, id) in (('channel', ${id}), ('stable_wallet', ${id}),
      (split_part(${id}, ':', 1), substring(${id} from ':(.*)'))) limit 1`.execute(db)
  return rows.length > 0
}

export type AccountLabels = ReadonlyMap<string, { code: string | null; name: string | null }>

/** Of the accounts of the books, and of those that only values have. */
export async function readAccountLabels(db: Kysely<Tables>): Promise<AccountLabels> {
  const ofValues = [roundingAccount, ...Object.values(gainAccounts)]
  const { rows } = await sql<{ account: string; code: string | null; name: string | null }>`
    select account, code, name from accounting.accounts where num_nonnulls(code, name) > 0
    union all
    select of_values.account, label.code, label.name
    from unnest(${ofValues}::text[]) as of_values (account), lateral (
      select code, name from account_label where fits_pattern(of_values.account, pattern) order by place limit 1
    ) as label`.execute(db)
  return new Map(rows.map(({ account, ...label }) => [account, label]))
}

export async function openedAccounts(db: Kysely<Tables>, accounts: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select distinct id from ledger_account where id = any(${accounts}::text[])`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

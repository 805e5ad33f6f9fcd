import { type Kysely, sql } from 'kysely'
import type { OpenCases } from '../core/cause.ts'
import { untiedUnits } from './books/books-audit.ts'
import { countDeposits, type DepositCount } from './books/deposit-counts.ts'
import { unexplainedUnits } from './chain/balance-differences.ts'
import { countGaps } from './chain/coverage.ts'
import { ageOf, readAlone } from './database.ts'
import { countUnsigned } from './decisions.ts'
import { type EventGauges, readEventGauges } from './event-deliveries.ts'
import { readPending } from './inbox.ts'
import { secondsUnsealed } from './ledger/seals.ts'
import { readUnsent, type UnsentMessages } from './notifications.ts'
import { waitingRules } from './streams.ts'
import type { Tables } from './tables.ts'

/** The same for every replica. Ages are in seconds. */
export type StoreGauges = {
  inbox: { pending: number; oldest: number }
  quarantine: { service: string; count: number }[]
  stages: StageGauge[]
  /** `service` is empty for what is of none. */
  mismatches: {
    kind: string
    severity: string
    service: string
    network: string
    age: string
    count: number
    oldest: number
  }[]
  atRisk: { service: string; asset: string; severity: string; units: number }[]
  /** Similar ones of the same minute are grouped. */
  cases: OpenCases[]
  /** How long the oldest row of the log has waited for its seal. */
  sealAge: number
  events: EventGauges
  /** Of the last 24 hours. */
  unsigned: number
  /** The policy of the settings waits for approval. */
  policyWaits: boolean
  /** Other than unbalanced sums. */
  untied: { control: string; asset: string; units: number }[]
  /** Summed without signs. */
  unexplained: { network: string; asset: string; units: number }[]
  streams: { name: string; age: number; progress: Record<string, number> }[]
  notifications: readonly UnsentMessages[]
}

/** `unnamed`: of the oldest deposit without an uncleared mismatch. */
type StageGauge = { stage: string; service: string; network: string; oldest: number; unnamed: number | null }

/** Few rows, however much is stored. */
export function readGauges(db: Kysely<Tables>): Promise<StoreGauges> {
  return readAlone(db, async (tx) => {
    const inbox = await readPending(tx)
    const { oldest } = inbox
    const applying =
      inbox.pending === 0 ? [] : [{ stage: 'apply', service: '', network: '', oldest, unnamed: oldest }]
    const quarantine = await sql<StoreGauges['quarantine'][number]>`
      select service, count(*)::int as count from quarantine group by service`.execute(tx)
    const atRisk = await sql<StoreGauges['atRisk'][number]>`
      select coalesce(service, '') as service, asset, severity, amount::float8 as units from accounting.value_at_risk`.execute(
      tx,
    )
    const streams = await sql<StoreGauges['streams'][number]>`
      select name, ${ageOf(sql`succeeded_at`)} as age, progress from stream
      where succeeded_at is not null`.execute(tx)
    return {
      inbox,
      quarantine: quarantine.rows,
      stages: [...applying, ...(await readStages(tx))],
      mismatches: await readMismatches(tx),
      atRisk: atRisk.rows,
      cases: await readCases(tx),
      sealAge: await secondsUnsealed(tx),
      events: await readEventGauges(tx),
      unsigned: await countUnsigned(tx),
      policyWaits: (await waitingRules(tx)) !== null,
      untied: await untiedUnits(tx),
      unexplained: await unexplainedUnits(tx),
      streams: streams.rows,
      notifications: await readUnsent(tx),
    }
  })
}

async function readMismatches(db: Kysely<Tables>): Promise<StoreGauges['mismatches']> {
  const { rows } = await sql<StoreGauges['mismatches'][number]>`
    select kind, severity, coalesce(service, '') as service, coalesce(network, '') as network, count(*)::int as count,
      ${ageOf(sql`min(opened_at)`)} as oldest,
      case when opened_at > now() - interval '1 hour' then 'under_1h'
        when opened_at > now() - interval '24 hours' then 'under_24h'
        when opened_at > now() - interval '3 days' then 'under_3d'
        when opened_at > now() - interval '7 days' then 'under_7d'
        when opened_at > now() - interval '30 days' then 'under_30d' else 'older' end as age
    from mismatch where cleared_at is null and resolved_at is null
    group by kind, severity, service, network, 7`.execute(db)
  return rows
}

type CaseRow = Omit<OpenCases, 'loss'> & {
  lossAsset: string | null
  symbol: string | null
  decimals: number | null
  amount: string | null
}

/** A snooze without a time postpones the due time beyond any. */
const snoozedUntil = sql`case when snooze_ends_with is null then snoozed_until else now() + interval '100 years' end`

/** Of the same minute, assignment and snooze: this separates causes, and keeps the rows few. */
export async function readCases(db: Kysely<Tables>): Promise<OpenCases[]> {
  const { rows } = await sql<CaseRow>`
    select kind, coalesce(m.service, '') as service, coalesce(m.network, '') as network, date_trunc('minute', opened_at) as "openedAt",
      assigned_to is not null as "isAssigned", ${snoozedUntil} as "snoozedUntil", count(*)::int as count,
      loss_asset as "lossAsset", a.symbol, a.decimals, sum(loss_amount)::text as amount
    from mismatch m left join asset a on a.key = m.loss_asset
    where cleared_at is null and resolved_at is null
    group by kind, m.service, m.network, 4, 5, 6, loss_asset, a.symbol, a.decimals`.execute(db)
  return rows.map(({ lossAsset, symbol, decimals, amount, ...row }) => {
    if (lossAsset === null) return { ...row, loss: null }
    const [network = ''] = lossAsset.split('/')
    return { ...row, loss: { asset: lossAsset, network, symbol, decimals, amount: BigInt(amount ?? 0) } }
  })
}

/** How long the oldest deposit has waited for each stage. Reads each open deposit once. */
async function readStages(db: Kysely<Tables>): Promise<StoreGauges['stages']> {
  const { rows } = await sql<StoreGauges['stages'][number]>`
    with waiting as (
      select service, network,
        exists (select from mismatch m where m.deposit_id = deposit.id and m.cleared_at is null) as is_named,
        min(unreported_since) as delivery,
        min(coalesce(deposited_at, webhook_at)) filter (where api_at is null) as api_detection,
        min(least(webhook_at, api_at)) filter (where chain_at is null) as chain_detection,
        min(deposited_at) filter (where final_at is null) as finality,
        min(final_at) filter (where settled_at is null) as settlement,
        min(coalesce(deposited_at, least(webhook_at, api_at))) as reconciliation
      from deposit
      where state in ('observed', 'confirmed', 'settling', 'settled') and merged_into is null
        and network is not null and (settled_at is not null or id not in (
          select w.deposit_id from ledger_journal w where w.kind = 'write_off' and w.deposit_id is not null
            and not exists (select from ledger_journal r where r.reverses = w.id)
        ))
      group by service, network, is_named
    )
    select stage, service, network, max(${ageOf(sql`since`)}) as oldest,
      max(${ageOf(sql`since`)}) filter (where not is_named) as unnamed
    from waiting, lateral (values
      ('delivery', delivery), ('api_detection', api_detection), ('chain_detection', chain_detection),
      ('finality', finality), ('settlement', settlement), ('reconciliation', reconciliation)
    ) as of_network (stage, since)
    where since is not null
    group by stage, service, network`.execute(db)
  return rows
}

/** The time these take grows with the accounts and the gaps in coverage, not with the deposits. */
export type StoreTotals = {
  deposits: DepositCount[]
  /** Deposits of the last 24 hours, and of the hour in which they begin. */
  matrix: { service: string; leg: string; source: string; cell: string; count: number }[]
  assets: { asset: string; network: string; symbol: string }[]
  /** By purpose, in units; debit balances are positive. */
  balances: { account: string; network: string; asset: string; units: number }[]
  imbalances: { asset: string; units: number }[]
  coverageGaps: { network: string; ranges: number; heights: number }[]
}

/** One query after another, without parallel workers: at most one processor is busy. */
export function readTotals(db: Kysely<Tables>): Promise<StoreTotals> {
  return readAlone(db, async (tx) => {
    const matrix = await sql<StoreTotals['matrix'][number]>`
      select service, leg, source, cell, sum(deposits)::float8 as count
      from (
        select service, matrix, sum(deposits) as deposits from deposit_hour
        where hour >= date_trunc('hour', now() - interval '24 hours', 'UTC') group by service, matrix
      ) as alike, jsonb_each(matrix) as legs (leg, sources), jsonb_each_text(sources) as cells (source, cell)
      group by service, leg, source, cell having sum(deposits) > 0`.execute(tx)
    const { assets, balances, imbalances } = await readBooks(tx)
    return {
      deposits: await countDeposits(tx),
      matrix: matrix.rows,
      assets,
      balances,
      imbalances,
      coverageGaps: await countGaps(tx),
    }
  })
}

type BooksRow = {
  account: string
  network: string
  asset: string
  symbol: string
  units: number
  sum: number
}

/** From snapshots and later transfers. */
async function readBooks(
  db: Kysely<Tables>,
): Promise<Pick<StoreTotals, 'assets' | 'balances' | 'imbalances'>> {
  const { rows } = await sql<BooksRow>`
    select account, a.network, t.asset, a.symbol, accounting.in_units(balance, a.decimals)::float8 as units,
      accounting.in_units(sum(balance) over (partition by t.asset), a.decimals)::float8 as sum
    from (
      select case
          when account ~ '^(assets:(in_transit|forwarded|stable_wallet|receivable)|liabilities:(deposits|suspense)|expenses:(fees|tolerance|write_off)|trading)(:|$)'
          then case split_part(account, ':', 1) when 'trading' then 'trading' else split_part(account, ':', 2) end else 'other' end as account,
        asset, sum(debit - credit) as balance
      from ledger_turnover('infinity', 'infinity') group by 1, asset
    ) as t join asset a on a.key = t.asset
    order by t.asset, account`.execute(db)
  const perAsset = [...Map.groupBy(rows, ({ asset }) => asset).values()].flatMap(([first]) => first ?? [])
  return {
    assets: perAsset.map(({ asset, network, symbol }) => ({ asset, network, symbol })),
    balances: rows.map(({ account, network, asset, units }) => ({ account, network, asset, units })),
    imbalances: perAsset.map(({ asset, sum }) => ({ asset, units: sum })),
  }
}

export type Summary = {
  states: { state: string; count: number }[]
  oldestOpenSeconds: number
  mismatches: { kind: string; count: number }[]
  isBalanced: boolean
}

export async function summarise(db: Kysely<Tables>): Promise<Summary> {
  const [counts, oldest, mismatches, unbalanced] = await Promise.all([
    countDeposits(db),
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
    states: [...Map.groupBy(counts, ({ state }) => state)]
      .filter(([state]) => state !== 'ignored')
      .map(([state, some]) => ({ state, count: some.reduce((sum, { count }) => sum + count, 0) })),
    oldestOpenSeconds: oldest.rows[0]?.seconds ?? 0,
    mismatches: mismatches.rows,
    isBalanced: unbalanced.rows.length === 0,
  }
}

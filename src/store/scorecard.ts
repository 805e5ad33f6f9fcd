import { type Kysely, sql } from 'kysely'
import type { ServiceName } from '../core/evidence.ts'
import { readAlone } from './database.ts'
import type { Tables } from './tables.ts'

/** `accounting.scorecard` documents each column. Ratios are exact decimals. */
export type ScorecardLine = {
  service: ServiceName
  /** `all`, or both assets with their networks, for people and as a label of metrics. */
  route: string
  scope: 'service' | 'route'
  network: string | null
  asset_symbol: string | null
  asset: string | null
  settlement_network: string | null
  settlement_asset_symbol: string | null
  settlement_asset: string | null
  deposits: bigint
  settled: bigint
  steps_known: bigint
  steps_reported: bigint
  completeness: string | null
  /** Of so many deposits are webhooks, duplicates and durations. */
  sampled: bigint
  webhooks: bigint
  duplicates: bigint
  duplicates_share: string | null
  delivery_p50_seconds: number | null
  delivery_p95_seconds: number | null
  delivery_p99_seconds: number | null
  settle_p50_seconds: number | null
  settle_p95_seconds: number | null
  settle_p99_seconds: number | null
  /** In units of the asset; `_base` in base units. */
  paid: string | null
  paid_base: string | null
  delivered: string | null
  delivered_base: string | null
  fee: string | null
  fee_base: string | null
  fee_share: string | null
  delivered_per_paid: string | null
}

/** Of each service: the whole service, then one line per route. */
export async function readScorecard(
  db: Kysely<Tables>,
  { from, to }: { from: Date; to: Date },
): Promise<ScorecardLine[]> {
  const { rows } = await sql<Omit<ScorecardLine, 'route'>>`
    select s.*, ${inBase('paid', 'asset')} as paid_base,
      ${inBase('delivered', 'settlement_asset')} as delivered_base, ${inBase('fee', 'settlement_asset')} as fee_base
    from accounting.scorecard_between(${from}, ${to}) s`.execute(db)
  return rows.map((line) => ({ route: routeText(line), ...line }))
}

/** Exact: numeric factors, and the product is a whole number. */
function inBase(column: string, asset: string) {
  return sql`(
    select trim_scale(${sql.ref(`s.${column}`)} * power(10::numeric, a.decimals))
    from asset a where a.key = ${sql.ref(`s.${asset}`)})`
}

const dayMs = 86_400_000

/** Of the last 24 hours, and of the hour in which they begin. */
export function readDayScorecard(db: Kysely<Tables>): Promise<ScorecardLine[]> {
  const now = Date.now()
  return readAlone(db, (tx) => readScorecard(tx, { from: new Date(now - dayMs), to: new Date(now) }))
}

function routeText(line: Omit<ScorecardLine, 'route'>): string {
  if (line.scope === 'service') return 'all'
  const paid = `${line.asset_symbol ?? '?'} on ${line.network ?? '?'}`
  return line.settlement_asset === null
    ? `${paid}, not delivered yet`
    : `${paid} to ${line.settlement_asset_symbol ?? '?'} on ${line.settlement_network ?? '?'}`
}

export type ObservedFee = {
  service: string
  asset: string
  assetLabel: string
  settlementAsset: string
  settlementAssetLabel: string
  sample: number
  /** In basis points of the amount paid, rounded down and up. */
  lowBps: number
  highBps: number
  /** Units delivered per unit paid. Null if both assets have the same symbol. */
  rate: { low: string; high: string; paid: string; delivered: string } | null
}

/**
 * By service and assets. Assumes that both assets have the same value.
 * @param exceptKinds excludes deposits with an open mismatch of these kinds, whose amounts are in doubt
 */
export async function observedFees(
  db: Kysely<Tables>,
  exceptKinds: readonly string[],
): Promise<ObservedFee[]> {
  const { rows } = await sql<ObservedFee>`
    with settled as (
      select d.service, d.asset, a.symbol || ' on ' || a.network as asset_label,
        d.settlement_asset, s.symbol || ' on ' || s.network as settlement_label,
        d.amount * 10::numeric ^ s.decimals as paid, a.symbol as paid_symbol, s.symbol as delivered_symbol,
        d.settlement_amount * 10::numeric ^ a.decimals as delivered,
        (d.amount * 10::numeric ^ s.decimals - d.settlement_amount * 10::numeric ^ a.decimals) * 10000 as kept
      from deposit d join asset a on a.key = d.asset join asset s on s.key = d.settlement_asset
      where d.merged_into is null and d.state in ('settled', 'reconciled') and d.amount > 0
        and d.settlement_amount is not null and not exists (
          select from mismatch m
          where m.deposit_id = d.id and m.cleared_at is null and m.kind = any(${exceptKinds}::text[]))
    )
    select service, asset, asset_label as "assetLabel", settlement_asset as "settlementAsset",
      settlement_label as "settlementAssetLabel", count(*)::int as sample,
      min(div(kept, paid) - (kept < 0 and kept % paid <> 0)::int)::float8 as "lowBps",
      max(div(kept, paid) + (kept > 0 and kept % paid <> 0)::int)::float8 as "highBps",
      case when paid_symbol <> delivered_symbol then jsonb_build_object(
        'low', trim_scale(round(min(delivered / paid), 8))::text,
        'high', trim_scale(round(max(delivered / paid), 8))::text,
        'paid', paid_symbol, 'delivered', delivered_symbol) end as rate
    from settled
    group by service, asset, asset_label, settlement_asset, settlement_label, paid_symbol, delivered_symbol
    order by sample desc, service, asset, settlement_asset`.execute(db)
  return rows
}

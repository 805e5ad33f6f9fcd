import { type Kysely, sql } from 'kysely'
import { readAlone } from './read-alone.ts'
import type { Tables } from './tables.ts'

/**
 * Performance of the service for the deposits of a period. `accounting.scorecard` documents each column. Ratios are
 * exact decimals.
 */
export type ScorecardLine = {
  /** `all`, or the asset paid and the asset delivered with their networks, for people and as a label of metrics. */
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
  webhooks: bigint
  duplicates: bigint
  delivery_p50_seconds: number | null
  delivery_p95_seconds: number | null
  delivery_p99_seconds: number | null
  settle_p50_seconds: number | null
  settle_p95_seconds: number | null
  settle_p99_seconds: number | null
  /** In units of the asset paid or delivered, and with `_base` in its smallest units. */
  paid: string | null
  paid_base: string | null
  delivered: string | null
  delivered_base: string | null
  fee: string | null
  fee_base: string | null
  fee_share: string | null
  delivered_per_paid: string | null
}

/** One line for the whole service, then one per route. */
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

/** Exact: both factors are numeric, and the product is a whole number. */
function inBase(column: string, asset: string) {
  return sql`(
    select trim_scale(${sql.ref(`s.${column}`)} * power(10::numeric, a.decimals))
    from asset a where a.key = ${sql.ref(`s.${asset}`)})`
}

const dayMs = 86_400_000

/** The scorecard of the last 24 hours. */
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

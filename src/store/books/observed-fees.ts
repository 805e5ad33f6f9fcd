import { type Kysely, sql } from 'kysely'
import type { Tables } from '../tables.ts'

/** What the service kept of settled deposits, for one asset paid and one asset delivered. */
export type ObservedFee = {
  asset: string
  assetLabel: string
  settlementAsset: string
  settlementAssetLabel: string
  /** Number of deposits. */
  sample: number
  /** Minimum and maximum in basis points of the amount paid, rounded down and up. */
  lowBps: number
  highBps: number
  /**
   * Minimum and maximum of units delivered per unit paid. Null if both assets have the same symbol, on any networks.
   */
  rate: { low: string; high: string; paid: string; delivered: string } | null
}

/**
 * Fees observed per pair of assets. Assumes that both assets have the same value, and compares amounts with all their
 * digits.
 * @param exceptKinds excludes deposits with an open mismatch of these kinds, whose amounts are in doubt
 */
export async function observedFees(
  db: Kysely<Tables>,
  exceptKinds: readonly string[],
): Promise<ObservedFee[]> {
  const { rows } = await sql<ObservedFee>`
    with settled as (
      select d.asset, a.symbol || ' on ' || a.network as asset_label,
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
    select asset, asset_label as "assetLabel", settlement_asset as "settlementAsset",
      settlement_label as "settlementAssetLabel", count(*)::int as sample,
      min(div(kept, paid) - (kept < 0 and kept % paid <> 0)::int)::float8 as "lowBps",
      max(div(kept, paid) + (kept > 0 and kept % paid <> 0)::int)::float8 as "highBps",
      case when paid_symbol <> delivered_symbol then jsonb_build_object(
        'low', trim_scale(round(min(delivered / paid), 8))::text,
        'high', trim_scale(round(max(delivered / paid), 8))::text,
        'paid', paid_symbol, 'delivered', delivered_symbol) end as rate
    from settled group by asset, asset_label, settlement_asset, settlement_label, paid_symbol, delivered_symbol
    order by sample desc, asset, settlement_asset`.execute(db)
  return rows
}

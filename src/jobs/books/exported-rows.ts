import { assert, Fault } from '../../core/errors.ts'
import type {
  ExportedAsset,
  ExportedJournal,
  ExportedLot,
  ExportedTransfer,
} from '../../ledger/export/exported-journal.ts'
import { commodityOf } from '../../ledger/export/plain-text.ts'
import { type Lot, sumOf } from '../../ledger/lots.ts'
import type { AssetNames } from '../../store/assets.ts'
import type { LedgerJournalRow, LedgerTransferRow, ValueLineRow } from '../../store/ledger/export-journals.ts'

/** @throws Fault `usage_bad` if two assets would share a name, which would merge their totals */
export function assetReader(names: AssetNames): (key: string) => ExportedAsset {
  const assets = new Map(
    [...names].map(([key, { symbol, decimals }]) => [
      key,
      { key, symbol, decimals, commodity: commodityOf({ key, symbol }) },
    ]),
  )
  const keyOf = new Map<string, string>()
  for (const { key, commodity } of assets.values()) {
    const other = keyOf.get(commodity)
    if (other !== undefined)
      throw new Fault('usage_bad', {
        problem: `${other} and ${key} would both have the name ${commodity}`,
        fix: 'set another symbol for one of them in the settings',
      })
    keyOf.set(commodity, key)
  }
  return (key) => {
    const asset = assets.get(key)
    assert(asset !== undefined, 'every asset of the books is pinned')
    return asset
  }
}

type ExportRowPage = {
  journals: readonly LedgerJournalRow[]
  transfers: readonly LedgerTransferRow[]
  values: readonly ValueLineRow[]
  lots: ReadonlyMap<bigint, readonly Lot[]> | null
}

export function joined(
  { journals, transfers, values, lots }: ExportRowPage,
  assetOf: (key: string) => ExportedAsset,
): ExportedJournal[] {
  const byJournal = Map.groupBy(transfers, ({ journal_id: id }) => id)
  const valuesOf = Map.groupBy(values, ({ id }) => id)
  return journals.map((row) => ({
    id: row.id,
    postingKey: row.posting_key,
    kind: row.kind,
    depositId: row.deposit_id,
    reverses: row.reverses,
    reason: row.reason,
    period: row.period,
    eventAt: row.event_at,
    recordedAt: row.recorded_at,
    transfers: (byJournal.get(row.id) ?? []).map(
      ({ leg, debit, credit, asset, amount }): ExportedTransfer => ({
        leg,
        debit,
        credit,
        asset: assetOf(asset),
        amount: BigInt(amount),
      }),
    ),
    values: (valuesOf.get(row.id) ?? []).map(({ account, asset, units, value, price }) => ({
      account,
      asset: asset === null ? null : assetOf(asset),
      units: BigInt(units),
      value: BigInt(value),
      price,
    })),
    lots: lots && exportedLots(lots.get(row.id) ?? [], assetOf),
  }))
}

/** Of each journal and day one lot. */
function exportedLots(lots: readonly Lot[], assetOf: (key: string) => ExportedAsset): ExportedLot[] {
  const same = Map.groupBy(
    lots.map((lot) => exportedLot(lot, assetOf)),
    ({ account, asset, origin, day }) => `${account} ${asset.key} ${origin} ${day}`,
  )
  return [...same.values()]
    .map((some) => ({ ...(some[0] as ExportedLot), ...sumOf(some) }))
    .filter(({ units, cost }) => units !== 0n || cost !== 0n)
}

function exportedLot(
  { account, asset, origin, acquiredAt, units, cost }: Lot,
  assetOf: (key: string) => ExportedAsset,
): ExportedLot {
  assert(acquiredAt !== null, 'lots of own funds have dates')
  const day = acquiredAt.toISOString().slice(0, 10)
  return { account, asset: assetOf(asset), origin, day, units, cost }
}

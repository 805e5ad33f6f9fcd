import type { LedgerTransfer } from '../core/booking-targets.ts'
import { formatAmount } from '../core/money.ts'

type AssetsByKey = ReadonlyMap<string, { symbol: string; network: string; decimals: number }>

/** The month of the books, and that of the event if it differs: the journal is then late. */
export function placeOf({ period, eventAt }: { period: string; eventAt: Date }): string {
  const [books, happened] = [period.slice(0, 7), eventAt.toISOString().slice(0, 7)]
  const late = books === happened ? '' : `, late: the event was in ${happened}`
  return `in the books of ${books}${late}`
}

export function transferDocument({ debit, credit, asset, amount }: LedgerTransfer, assets: AssetsByKey) {
  const { symbol, network, decimals } = assets.get(asset) ?? { symbol: '', network: '', decimals: 0 }
  return {
    debit,
    credit,
    asset_symbol: symbol,
    asset,
    network,
    amount: formatAmount(amount, decimals),
    amount_base: amount,
  }
}

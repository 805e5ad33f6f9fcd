import type { DepositRow } from '../tables.ts'
import type { DepositChange } from './deposits.ts'
import { type Quote, type QuoteSettings, quote } from './quote.ts'

/** What a deposit delivers by the price table of now; null where the table has no price for the pair. */
export function convert(quotes: QuoteSettings, deposit: DepositRow): Quote | null {
  const from = { symbol: deposit.asset, decimals: deposit.decimals }
  const to = { symbol: deposit.to_asset, decimals: deposit.to_decimals }
  return quote(quotes, BigInt(deposit.amount), { from, to })
}

/** The quote as it is stored: from then on the deposit keeps it. */
export function quoteColumns({
  amount,
  fee,
  rate,
}: Quote): Pick<DepositChange, 'to_amount' | 'fee' | 'rate'> {
  return { to_amount: amount.toString(), fee: fee.toString(), rate }
}

/** The fee took all of it: there is nothing to deliver. */
export function tooSmall({ id }: DepositRow, quoted: Quote): DepositChange {
  return { id, status: 'failed', failure: 'too_small', ...quoteColumns(quoted) }
}

import type { DepositRow } from '../tables.ts'
import type { DepositChange } from './deposits.ts'
import { decidePolicy, type Policy } from './policy.ts'
import { type PriceTable, type Quote, quote, type Terms } from './quote.ts'
import { refundOf } from './refund-deposit.ts'

/**
 * What becomes of a final deposit now; null where it waits for a price. `policy` is its owner's, if there is one.
 * The quote that it gets here is the one it keeps.
 */
export function convert(
  deposit: DepositRow,
  policy: Policy | null,
  { terms, prices, now }: { terms: Terms; prices: PriceTable; now: Date },
): DepositChange | null {
  const { id } = deposit
  const decision = policy === null || deposit.released_at !== null ? null : decidePolicy(policy, deposit)
  if (decision?.kind === 'hold') return { id, status: 'held', reason: decision.reason }
  if (decision?.kind === 'refund') return refundOf(deposit, decision.to, decision.reason)
  const quoted = quoteOf(deposit, { ...terms, prices })
  if (quoted === null) return null
  const columns = { to_amount: quoted.amount.toString(), fee: quoted.fee.toString(), rate: quoted.rate }
  if (quoted.amount === 0n) return { id, status: 'failed', reason: 'too_small', ...columns }
  return deposit.owner_kind === 'channel'
    ? { id, status: 'converting', ...columns }
    : { id, status: 'credited', to_at: now, ...columns }
}

function quoteOf(deposit: DepositRow, terms: Terms & { prices: PriceTable }): Quote | null {
  const from = { symbol: deposit.asset, decimals: deposit.decimals }
  const to = { symbol: deposit.to_asset, decimals: deposit.to_decimals }
  return quote(terms, BigInt(deposit.amount), { from, to })
}

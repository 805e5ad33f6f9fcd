import type { ServiceDepositRow } from '../tables.ts'
import type { DepositChange } from './deposits.ts'
import { decidePolicy, type OwnerPolicy } from './policy.ts'
import { type PriceTable, type Quote, quote, type Terms } from './quote.ts'
import { refundOf } from './refund-deposit.ts'

/**
 * What becomes of a deposit that is final, or held for want of a price; null if it stays so. `policy` is its owner's, if
 * there is one. The quote that it gets here is the one it keeps.
 */
export function convert(
  deposit: ServiceDepositRow,
  policy: OwnerPolicy | null,
  { terms, prices, now }: { terms: Terms; prices: PriceTable; now: Date },
): DepositChange | null {
  const { id } = deposit
  const quoted = quoteOf(deposit, { ...terms, prices })
  // Confirmed again, it is decided as any other: a policy that was put meanwhile holds.
  if (deposit.status === 'held') return quoted === null ? null : { id, status: 'confirmed' }
  const decision = policy === null || deposit.released_at !== null ? null : decidePolicy(policy, deposit)
  if (decision?.kind === 'hold') return { id, status: 'held', reason: decision.reason }
  if (decision?.kind === 'refund') return refundOf(deposit, decision.to, decision.reason)
  if (quoted === null) return { id, status: 'held', reason: 'price_missing' }
  return deliver(deposit, quoted, now)
}

function deliver({ id, owner_kind }: ServiceDepositRow, quoted: Quote, now: Date): DepositChange {
  const columns = { to_amount: quoted.amount.toString(), fee: quoted.fee.toString(), rate: quoted.rate }
  if (quoted.amount === 0n) return { id, status: 'failed', reason: 'too_small', ...columns }
  return owner_kind === 'channel'
    ? { id, status: 'converting', ...columns }
    : { id, status: 'credited', to_at: now, ...columns }
}

function quoteOf(deposit: ServiceDepositRow, terms: Terms & { prices: PriceTable }): Quote | null {
  const from = { symbol: deposit.asset, decimals: deposit.decimals }
  const to = { symbol: deposit.to_asset, decimals: deposit.to_decimals }
  return quote(terms, BigInt(deposit.amount), { from, to })
}

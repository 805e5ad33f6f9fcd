import { Fault } from './errors.ts'
import { parseAmount } from './money.ts'

/** In units of the asset as decimal text, by `network/SYMBOL`; `all` for all other assets. */
export type Limits = ReadonlyMap<string, string>

/** A decision above its limit needs two people. An asset without a limit always does. */
export type SecondPersonLimits = Limits

export type Stake = { network: string; symbol: string | null; decimals: number | null; amount: bigint | null }

/** @throws Fault `usage_bad` if a second person is needed and none is named, or the first is named again. */
export function checkSecondPerson(
  stake: Stake,
  { by, approvedBy }: { by: string; approvedBy: string | null },
  limits: SecondPersonLimits,
): void {
  if (approvedBy !== null && approvedBy.toLowerCase() === by.toLowerCase()) {
    throw new Fault('usage_bad', {
      problem: `${approvedBy} cannot approve their own decision`,
      fix: 'name another person with --approved-by',
    })
  }
  if (approvedBy !== null || isWithinLimit(stake, limits)) return
  throw new Fault('usage_bad', {
    problem: 'this decision needs a second person',
    fix: 'name the second person with --approved-by; the limit is the setting cases.secondPersonAbove',
  })
}

/** False if the amount is unknown. */
export function isWithinLimit({ network, symbol, decimals, amount }: Stake, limits: Limits): boolean {
  const limit = limits.get(`${network}/${symbol}`) ?? limits.get('all')
  if (limit === undefined || decimals === null || amount === null) return false
  return amount <= baseUnits(limit, decimals)
}

/** Extra digits are truncated, which is stricter. */
function baseUnits(limit: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = limit.split('.')
  return parseAmount(
    decimals === 0 ? whole : `${whole}.${fraction.padEnd(1, '0').slice(0, decimals)}`,
    decimals,
  )
}

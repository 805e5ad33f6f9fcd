import { Fault } from './errors.ts'
import { parseAmount } from './money.ts'

/** Amounts in units of the asset as decimal text: by `network/SYMBOL`, and under `all` for the others. */
export type Limits = ReadonlyMap<string, string>

/** Above which amounts a decision about money takes two people. An asset without a limit always takes two. */
export type SecondPersonLimits = Limits

/** What a decision is about. */
export type Stake = { network: string; symbol: string | null; decimals: number | null; amount: bigint | null }

/**
 * Holds a decision to the limit of its asset.
 * @throws Fault `usage_bad` where a second person is needed and none is named, or the first is named again.
 */
export function checkSecondPerson(
  stake: Stake,
  { by, approvedBy }: { by: string; approvedBy: string | null },
  limits: SecondPersonLimits,
): void {
  if (approvedBy !== null && approvedBy.toLowerCase() === by.toLowerCase()) {
    throw new Fault('usage_bad', {
      problem: `${approvedBy} cannot approve what ${by} decides`,
      mend: 'name somebody else with --approved-by',
    })
  }
  if (approvedBy !== null || isWithinLimit(stake, limits)) return
  throw new Fault('usage_bad', {
    problem: 'this takes a second person',
    mend: 'name who agrees with --approved-by; the setting cases.secondPersonAbove says from which amount on',
  })
}

/** Whether an amount is known and no more than the limit of its asset. */
export function isWithinLimit({ network, symbol, decimals, amount }: Stake, limits: Limits): boolean {
  const limit = limits.get(`${network}/${symbol}`) ?? limits.get('all')
  if (limit === undefined || decimals === null || amount === null) return false
  return amount <= baseUnits(limit, decimals)
}

/** A limit with more digits than the asset has is cut to them, which is the stricter. */
function baseUnits(limit: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = limit.split('.')
  return parseAmount(
    decimals === 0 ? whole : `${whole}.${fraction.padEnd(1, '0').slice(0, decimals)}`,
    decimals,
  )
}

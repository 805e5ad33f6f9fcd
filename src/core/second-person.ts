import { parseAmount } from './money.ts'

/** In units of the asset as decimal text, by `network/SYMBOL`; `all` for all other assets. */
export type Limits = ReadonlyMap<string, string>

/** A decision above its limit needs two people. An asset without a limit always does. */
export type SecondPersonLimits = Limits

export type Stake = { network: string; symbol: string | null; decimals: number | null; amount: bigint | null }

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

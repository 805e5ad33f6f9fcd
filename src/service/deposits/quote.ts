import { formatAmount } from '../../core/money.ts'

/** `prices['ETH/USDC']` is how many whole USDC one whole ETH is worth, in plain decimal text. */
export type PriceTable = Readonly<Record<string, string>>

/** What the service takes: of the price where one asset becomes another, and of what is then to be delivered. */
export type Terms = { spreadBasisPoints: number; feeBasisPoints: number }

export type Quote = { rate: string; fee: bigint; amount: bigint }

type Side = { symbol: string; decimals: number }

const rateForm = /^(\d{1,30})(?:\.(\d{1,30}))?$/
const basisPoints = 10_000
const basisPointDecimals = 4

/**
 * What a deposit of `amount` base units delivers, in base units of the other asset: amount × rate, scaled by the
 * decimals and floored, less the fee, itself floored. What the floor leaves over stays with the service. The rate is
 * the price less the spread, exactly; an asset is worth itself, without a spread.
 * Null where the table has no price for the pair.
 */
export function quote(
  { prices, spreadBasisPoints, feeBasisPoints }: Terms & { prices: PriceTable },
  amount: bigint,
  { from, to }: { from: Side; to: Side },
): Quote | null {
  const isSame = from.symbol === to.symbol
  const price = isSame ? '1' : prices[`${from.symbol}/${to.symbol}`]
  if (price === undefined) return null
  const [, whole = '', fraction = ''] = rateForm.exec(price) ?? []
  const kept = BigInt(basisPoints - (isSame ? 0 : spreadBasisPoints))
  const rate = { units: BigInt(whole + fraction) * kept, decimals: fraction.length + basisPointDecimals }
  const gross =
    (amount * rate.units * 10n ** BigInt(to.decimals)) / 10n ** BigInt(rate.decimals + from.decimals)
  const fee = (gross * BigInt(feeBasisPoints)) / BigInt(basisPoints)
  return { rate: rateText(rate), fee, amount: gross - fee }
}

/** A positive plain decimal. */
export function isRate(text: string): boolean {
  return rateForm.test(text) && /[1-9]/.test(text)
}

/** Names every entry that is not a pair like `ETH/USDC` with a positive decimal. */
export function findPriceFaults(prices: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(prices)
    .filter(
      ([pair, rate]) => !/^[^/]{1,64}\/[^/]{1,64}$/.test(pair) || typeof rate !== 'string' || !isRate(rate),
    )
    .map(
      ([pair, rate]) => `quote ${pair} = ${String(rate)} is not a pair like ETH/USDC and a positive decimal`,
    )
}

function rateText({ units, decimals }: { units: bigint; decimals: number }): string {
  return formatAmount(units, decimals).replace(/\.?0+$/, '')
}

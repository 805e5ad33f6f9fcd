import { formatAmount } from '../../core/money.ts'

/** `prices['ETH/USDC']` is the price of one whole ETH in whole USDC, as a plain decimal string. */
export type PriceTable = Readonly<Record<string, string>>

export type Terms = { spreadBasisPoints: number; feeBasisPoints: number }

export type Quote = { rate: string; fee: bigint; amount: bigint }

type QuoteAsset = { symbol: string; decimals: number }

/** The value is `units` / 10^`decimals`. */
type Decimal = { units: bigint; decimals: number }
type Fraction = { numerator: bigint; denominator: bigint }

const rateForm = /^(\d{1,30})(?:\.(\d{1,30}))?$/
const basisPoints = 10_000
const basisPointDecimals = 4
/** As many decimals as a price may have, with those of the spread. */
const derivedDecimals = 26

/**
 * The delivered amount in base units of `to`: amount × rate, scaled by the decimals and floored, less the fee, itself
 * floored. The rate is the price less the spread; between equal assets 1, without a spread.
 * @returns null if there is no price for the pair
 */
export function quote(
  { prices, spreadBasisPoints, feeBasisPoints }: Terms & { prices: PriceTable },
  amount: bigint,
  { from, to }: { from: QuoteAsset; to: QuoteAsset },
): Quote | null {
  const price = priceOf(prices, from.symbol, to.symbol)
  if (price === null) return null
  const kept = BigInt(basisPoints - (from.symbol === to.symbol ? 0 : spreadBasisPoints))
  const rate = { units: price.units * kept, decimals: price.decimals + basisPointDecimals }
  const gross =
    (amount * rate.units * 10n ** BigInt(to.decimals)) / 10n ** BigInt(rate.decimals + from.decimals)
  const fee = (gross * BigInt(feeBasisPoints)) / BigInt(basisPoints)
  return { rate: rateText(rate), fee, amount: gross - fee }
}

/**
 * The price of one whole `from` in whole `to`: from the table, else from the inverse pair, else through a third asset,
 * the first by name. Derived prices are rounded down, in favor of the service.
 */
export function priceOf(prices: PriceTable, from: string, to: string): Decimal | null {
  if (from === to) return { units: 1n, decimals: 0 }
  const stated = prices[`${from}/${to}`]
  if (stated !== undefined) return decimalOf(stated)
  for (const common of [to, ...pairedWith(prices, from)]) {
    const [one, other] = [valueIn(prices, from, common), valueIn(prices, to, common)]
    if (one === null || other === null) continue
    const numerator = one.numerator * other.denominator * 10n ** BigInt(derivedDecimals)
    const units = numerator / (one.denominator * other.numerator)
    if (units > 0n) return { units, decimals: derivedDecimals }
  }
  return null
}

function pairedWith(prices: PriceTable, symbol: string): string[] {
  const pairs = Object.keys(prices).map((pair) => pair.split('/'))
  return pairs
    .filter((pair) => pair.includes(symbol))
    .map(([one = '', other = '']) => (one === symbol ? other : one))
    .toSorted()
}

function valueIn(prices: PriceTable, symbol: string, other: string): Fraction | null {
  if (symbol === other) return { numerator: 1n, denominator: 1n }
  const [price, inverse] = [prices[`${symbol}/${other}`], prices[`${other}/${symbol}`]]
  if (price !== undefined) return fractionOf(price)
  if (inverse === undefined) return null
  const { numerator, denominator } = fractionOf(inverse)
  return { numerator: denominator, denominator: numerator }
}

function fractionOf(price: string): Fraction {
  const { units, decimals } = decimalOf(price)
  return { numerator: units, denominator: 10n ** BigInt(decimals) }
}

function decimalOf(price: string): Decimal {
  const [, whole = '', fraction = ''] = rateForm.exec(price) ?? []
  return { units: BigInt(whole + fraction), decimals: fraction.length }
}

export function isRate(text: string): boolean {
  return rateForm.test(text) && /[1-9]/.test(text)
}

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

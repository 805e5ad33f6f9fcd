import { Fault } from './errors.ts'
import { formatAmount } from './money.ts'

/** Exact: `digits / 10 ** scale`. */
export type ExactNumber = { digits: bigint; scale: number }

export const noValue: ExactNumber = { digits: 0n, scale: 0 }

/** Of a `numeric` of Postgres, which is never written with an exponent. */
export function toDecimal(text: string): ExactNumber {
  const [whole = '', fraction = ''] = text.split('.')
  return { digits: BigInt(whole + fraction), scale: fraction.length }
}

export function times(one: ExactNumber, other: ExactNumber): ExactNumber {
  return { digits: one.digits * other.digits, scale: one.scale + other.scale }
}

export function plus(one: ExactNumber, other: ExactNumber): ExactNumber {
  const scale = Math.max(one.scale, other.scale)
  return { digits: digitsAt(one, scale) + digitsAt(other, scale), scale }
}

function digitsAt({ digits, scale }: ExactNumber, wanted: number): bigint {
  return digits * 10n ** BigInt(wanted - scale)
}

/** The decimal places of its smallest coin, by ISO 4217: 2 of EUR, 0 of JPY. */
export function minorPlaces(currency: string): number {
  return new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions()
    .maximumFractionDigits as number
}

/** In the smallest coins of the currency; a half goes to the even neighbour. */
export function toMinor({ digits, scale }: ExactNumber, currency: string): bigint {
  return roundHalfEven(digits * 10n ** BigInt(minorPlaces(currency)), 10n ** BigInt(scale))
}

/** The quotient; a half goes to the even neighbour. The denominator is not 0. */
export function roundHalfEven(numerator: bigint, denominator: bigint): bigint {
  const [magnitude, unit] = [magnitudeOf(numerator), magnitudeOf(denominator)]
  const [whole, rest] = [magnitude / unit, 2n * (magnitude % unit)]
  const isUp = rest > unit || (rest === unit && whole % 2n === 1n)
  const rounded = isUp ? whole + 1n : whole
  return numerator < 0n === denominator < 0n ? rounded : -rounded
}

export function magnitudeOf(value: bigint): bigint {
  return value < 0n ? -value : value
}

/** With every decimal place of the currency: `12.50`. */
export function formatMinor(minor: bigint, currency: string): string {
  return formatAmount(minor, minorPlaces(currency))
}

/** The option needs a currency, and the settings name none. */
export function notValued(option: string): Fault<'usage_bad'> {
  const fix = 'add "valuation: { currency: EUR }" with your currency to the settings, and restart the daemon'
  return new Fault('usage_bad', { problem: `${option}: amounts are not valued`, fix })
}

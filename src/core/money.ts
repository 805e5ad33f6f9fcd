import type { Brand } from './brand.ts'
import { Fault } from './errors.ts'

/** Non-negative, in base units. */
export type Amount = Brand<bigint, 'Amount'>

/** `numeric(78, 0)` of the books, which fits a uint256. */
const amountMax = 2n ** 256n - 1n

/**
 * More decimal places than the asset has are refused, never rounded.
 * @throws Fault `amount_malformed` if the text is not such a decimal, or the amount is too large
 */
export function parseAmount(text: string, decimals: number): Amount {
  const [, whole, fraction = ''] = /^(\d{1,78})(?:\.(\d{1,78}))?$/.exec(text) ?? []
  if (whole === undefined || fraction.length > decimals) {
    throw new Fault('amount_malformed', { text: text.slice(0, 100), decimals })
  }
  return toAmount(BigInt(whole + fraction.padEnd(decimals, '0')))
}

/**
 * For a chain library's `bigint`.
 * @throws Fault `amount_malformed` if it is negative or too large
 */
export function toAmount(value: bigint): Amount {
  if (value < 0n || value > amountMax)
    throw new Fault('amount_malformed', { text: value.toString(), decimals: 0 })
  return value as Amount
}

/** With every decimal place of the asset: `1.500000`. */
export function formatAmount(amount: bigint, decimals: number): string {
  const sign = amount < 0n ? '-' : ''
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0')
  const split = digits.length - decimals
  return decimals === 0 ? sign + digits : `${sign}${digits.slice(0, split)}.${digits.slice(split)}`
}

import { parseTime } from '../core/time.ts'

export type PriceLine = {
  line: number
  asset: string
  currency: string
  at: Date
  price: string
  source: string
}

export type PriceColumns = readonly (keyof Omit<PriceLine, 'line'>)[]

const columns: PriceColumns = ['asset', 'currency', 'at', 'price', 'source']

/** @returns the columns, or a text that says what is wrong */
export function readColumns(cells: readonly string[]): PriceColumns | string {
  const isWhole = columns.every((name) => cells.includes(name))
  if (isWhole && cells.length === columns.length) return cells as PriceColumns
  return `has the columns ${cells.join(', ') || 'none'}; it must have ${columns.join(', ')}, in any order`
}

/** @returns the price, or a text that says what is wrong */
export function readPriceLine(
  { line, cells }: { line: number; cells: readonly string[] },
  names: PriceColumns,
): PriceLine | string {
  if (cells.length !== names.length)
    return `has ${cells.length} cells, but the first line has ${names.length} columns`
  const cell = (name: PriceColumns[number]) => cells[names.indexOf(name)] ?? ''
  const [asset, currency, price, source] = [cell('asset'), cell('currency'), cell('price'), cell('source')]
  const at = parseTime(cell('at'))
  if (at === null) return 'at is neither a day nor a time, like 2026-11-20 or 2026-11-20T08:00:00Z'
  const problem = problemOf({ currency, price, source })
  return problem ?? { line, asset, currency, at, price, source }
}

function problemOf({ currency, price, source }: Record<'currency' | 'price' | 'source', string>) {
  if (!/^[A-Z]{3}$/.test(currency)) return 'currency is not three capital letters, like EUR'
  if (!/^\d{1,30}(\.\d{1,38})?$/.test(price) || /^[0.]+$/.test(price))
    return 'price is not an amount above zero, like 0.9231'
  return /^[^\p{C}]{1,100}$/u.test(source) ? null : 'source is not a text of 1 to 100 characters'
}

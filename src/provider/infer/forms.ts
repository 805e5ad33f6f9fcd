import type { Leaf, SampleColumn } from './columns.ts'

/** The form of a value, before its meaning is known. */
export type ValueFormat = 'time' | 'amount' | 'address' | 'transaction' | 'word' | 'token' | 'place'

const evmAddress = /^0x[0-9a-f]{40}$/i
const evmTransaction = /^0x[0-9a-f]{64}$/i
const solanaAddress = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/
const solanaTransaction = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/
const isoTime = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/
const plainNumber = /^\d{1,78}(\.\d{1,78})?$/
const word = /^(?=.*[A-Za-z])[\w.: -]{1,64}$/

/** Numeric times are recognised from 2001 to 2286: ten digits of seconds, thirteen of milliseconds. */
const seconds = /^[1-9]\d{9}$/
const milliseconds = /^[1-9]\d{12}$/

const tests: Record<ValueFormat, (leaf: Leaf) => boolean> = {
  time: ({ text }) => isoTime.test(text) || seconds.test(text) || milliseconds.test(text),
  amount: ({ text }) => plainNumber.test(text),
  address: ({ text }) => isAddress(text),
  transaction: ({ text }) => evmTransaction.test(text) || solanaTransaction.test(text),
  word: ({ kind, text }) => kind === 'text' && word.test(text) && !isHash(text),
  token: ({ text }) => /^[\x21-\x7e]{1,200}$/.test(text),
  place: ({ text }) => /^[\w.:-]{1,120}$/.test(text),
}

/** The values at a path that are neither null nor an empty text. */
export function saidAt({ leaves }: SampleColumn): Leaf[] {
  return leaves.filter(isSaid)
}

export function isSaid(leaf: Leaf | null | undefined): leaf is Leaf {
  return leaf !== null && leaf !== undefined && leaf.kind !== 'null' && leaf.text !== ''
}

/** True if the column has values and all of them have the form. */
export function hasForm(column: SampleColumn, form: ValueFormat): boolean {
  const said = saidAt(column)
  return said.length > 0 && said.every(tests[form])
}

export function isAddress(text: string): boolean {
  return evmAddress.test(text) || solanaAddress.test(text)
}

function isHash(text: string): boolean {
  return isAddress(text) || evmTransaction.test(text) || solanaTransaction.test(text)
}

/** The unit of the times in a column; null if they differ. */
export function timeUnitOf(column: SampleColumn): 'iso' | 'utc' | 's' | 'ms' | null {
  const units = new Set(saidAt(column).map(({ text }) => unitOf(text)))
  const [unit] = units
  return units.size === 1 ? (unit ?? null) : null
}

function unitOf(text: string): 'iso' | 'utc' | 's' | 'ms' {
  if (seconds.test(text)) return 's'
  if (milliseconds.test(text)) return 'ms'
  return /(?:Z|[+-]\d{2}:?\d{2})$/i.test(text) ? 'iso' : 'utc'
}

/** The words of a path: for `order.txHash`, `tx` and `hash` are in `last`, and `order` is in `before`. */
export type PathWords = { last: readonly string[]; before: readonly string[] }

export function wordsOf(path: string): PathWords {
  const names = path.split('.').map((name) =>
    name
      .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .filter((one) => one !== ''),
  )
  return { last: names.at(-1) ?? [], before: names.slice(0, -1).flat() }
}

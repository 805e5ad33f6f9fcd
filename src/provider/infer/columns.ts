import { digitsOf } from '../lossless-json.ts'

/** Numbers keep their digits as sent. */
export type Leaf = { kind: 'text' | 'number' | 'boolean' | 'null'; text: string }

/** Null for a sample without the path. */
export type SampleColumn = { path: string; leaves: readonly (Leaf | null)[] }

/** List items read; the data of a deposit is in the first ones. */
const placesMax = 4
const depthMax = 12
/** Captures may come from attackers; no service has this many fields. */
const columnsMax = 400
const objectsMax = 40
/** Other names cannot occur in a path of a profile, and may contain terminal escapes. */
export const nameForm = /^[^.\s\p{C}]{1,100}$/u

/**
 * In order of appearance.
 * @param samples parsed without loss of digits
 */
export function columnsOf(samples: readonly unknown[]): SampleColumn[] {
  const columns = new Map<string, (Leaf | null)[]>()
  for (const [place, sample] of samples.entries()) {
    for (const [path, leaf] of leavesOf(sample, [])) {
      const leaves = columns.get(path) ?? samples.map(() => null)
      if (columns.size >= columnsMax && !columns.has(path)) continue
      leaves[place] = leaf
      columns.set(path, leaves)
    }
  }
  return [...columns].map(([path, leaves]) => ({ path, leaves }))
}

export function valueAt(sample: unknown, path: string): unknown {
  if (path === '') return sample
  return path.split('.').reduce((value, name) => childOf(value, name), sample)
}

/** Outermost first; a sample itself has the empty path. */
export function objectPaths(samples: readonly unknown[]): string[] {
  const paths = new Set<string>()
  for (const sample of samples) for (const path of objectsIn(sample, [])) paths.add(path)
  return [...paths].toSorted((one, other) => depthOf(one) - depthOf(other)).slice(0, objectsMax)
}

function depthOf(path: string): number {
  return path === '' ? 0 : path.split('.').length
}

function objectsIn(value: unknown, path: readonly string[]): string[] {
  if (!isObject(value)) return []
  return [path.join('.'), ...childrenOf(value, path).flatMap(([one, names]) => objectsIn(one, names))]
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && digitsOf(value) === null
}

function childOf(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return /^\d+$/.test(name) ? (value as unknown[])[Number(name)] : undefined
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

function leavesOf(value: unknown, path: readonly string[]): [string, Leaf][] {
  const children = Array.isArray(value) ? value.slice(0, placesMax) : value
  if (Array.isArray(children) || isObject(children))
    return childrenOf(children, path).flatMap(([one, names]) => leavesOf(one, names))
  return [[path.join('.'), leafOf(value)]]
}

function childrenOf(value: object, path: readonly string[]): [unknown, string[]][] {
  if (path.length >= depthMax) return []
  return Object.entries(value)
    .filter(([name]) => nameForm.test(name))
    .map(([name, one]) => [one, [...path, name]])
}

function leafOf(value: unknown): Leaf {
  if (value === null || value === undefined) return { kind: 'null', text: '' }
  if (typeof value === 'string') return { kind: 'text', text: value }
  if (typeof value === 'boolean') return { kind: 'boolean', text: value ? 'true' : 'false' }
  return { kind: 'number', text: digitsOf(value) ?? '' }
}

export type ValueFormat = 'time' | 'amount' | 'address' | 'transaction' | 'word' | 'token' | 'place'

const evmAddress = /^0x[0-9a-f]{40}$/i
const evmTransaction = /^0x[0-9a-f]{64}$/i
const solanaAddress = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/
const solanaTransaction = /^[1-9A-HJ-NP-Za-km-z]{64,88}$/
const isoTime = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}/
const plainNumber = /^\d{1,78}(\.\d{1,78})?$/
const word = /^(?=.*[A-Za-z])[\w.: -]{1,64}$/

/** From 2001 to 2286: ten digits of seconds, thirteen of milliseconds. */
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

export function saidAt({ leaves }: SampleColumn): Leaf[] {
  return leaves.filter(isSaid)
}

export function isSaid(leaf: Leaf | null | undefined): leaf is Leaf {
  return leaf !== null && leaf !== undefined && leaf.kind !== 'null' && leaf.text !== ''
}

/** False if the column has no values. */
export function hasForm(column: SampleColumn, form: ValueFormat): boolean {
  const said = saidAt(column)
  return said.length > 0 && said.every(tests[form])
}

/** Digits only, and too few for a random number: it may count something, and others can be guessed from it. */
const enumerable = /^\d{1,15}$/

export function isEnumerable(column: SampleColumn): boolean {
  return saidAt(column).some(({ text }) => enumerable.test(text))
}

export function isAddress(text: string): boolean {
  return evmAddress.test(text) || solanaAddress.test(text)
}

function isHash(text: string): boolean {
  return isAddress(text) || evmTransaction.test(text) || solanaTransaction.test(text)
}

/** Null if the units differ. */
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

/** For `order.txHash`, `tx` and `hash` are in `last`, and `order` is in `before`. */
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

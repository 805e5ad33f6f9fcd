import { createHash } from 'node:crypto'

/**
 * A value as JSON has it: integers without a bound as decimal text, times as ISO text, maps and sets as lists, and
 * nothing where there is nothing.
 */
export function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Map || value instanceof Set) return [...value].map(plain)
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : plain(item)))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([name, item]) => [name, plain(item)]),
  )
}

/** On one line, keys in order and no blanks: what `jq -cS` writes. Hashes are of this text. */
export function canonicalText(value: unknown): string {
  return textOf(plain(value), dense, 0)
}

/** As `jq -S` writes a document, with the line break at its end. */
export function documentText(value: unknown): string {
  return `${textOf(plain(value), spacious, 0)}\n`
}

export function sha256Of(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

type Layout = { colon: string; line: (depth: number) => string }

const dense: Layout = { colon: ':', line: () => '' }
const spacious: Layout = { colon: ': ', line: (depth) => `\n${'  '.repeat(depth)}` }

/** Keys are put in order here: an object of JavaScript has those that are numbers before all others. */
function textOf(value: unknown, layout: Layout, depth: number): string {
  if (typeof value !== 'object' || value === null) return atomText(value)
  const isList = Array.isArray(value)
  const items = isList
    ? value.map((item) => textOf(item, layout, depth + 1))
    : Object.entries(value)
        .toSorted(([left], [right]) => (left < right ? -1 : 1))
        .map(([name, item]) => atomText(name) + layout.colon + textOf(item, layout, depth + 1))
  const [open, close] = isList ? '[]' : '{}'
  if (items.length === 0) return `${open}${close}`
  const start = layout.line(depth + 1)
  return `${open}${start}${items.join(`,${start}`)}${layout.line(depth)}${close}`
}

/** jq writes one character by its number where JavaScript does not. */
function atomText(value: unknown): string {
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f')
}

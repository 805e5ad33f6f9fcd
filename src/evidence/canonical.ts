import { createHash } from 'node:crypto'

/**
 * A value as JSON represents it: `bigint` as decimal text, times as ISO text, maps and sets as lists, undefined fields
 * omitted.
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

/** On one line, keys sorted and no blanks: the output of `jq -cS`. Hashes are computed from this text. */
export function canonicalText(value: unknown): string {
  return textOf(plain(value), dense, 0)
}

/** The output of `jq -S` for a document, with the line break at its end. */
export function documentText(value: unknown): string {
  return `${textOf(plain(value), spacious, 0)}\n`
}

export function sha256Of(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

type Layout = { colon: string; line: (depth: number) => string }

const dense: Layout = { colon: ':', line: () => '' }
const spacious: Layout = { colon: ': ', line: (depth) => `\n${'  '.repeat(depth)}` }

/** Keys are sorted here, because a JavaScript object lists numeric keys before all others. */
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

/** jq escapes one character that JavaScript does not. */
function atomText(value: unknown): string {
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f')
}

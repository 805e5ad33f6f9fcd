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
  return textOf(value, 0)
}

/** As `jq -S` writes a document, with the line break at its end. */
export function documentText(value: unknown): string {
  return `${textOf(value, 2)}\n`
}

export function sha256Of(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex')
}

function textOf(value: unknown, indent: number): string {
  // jq writes this one character by its number, where JavaScript does not.
  return JSON.stringify(sorted(plain(value)), null, indent).replaceAll('\u007f', '\\u007f')
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([left], [right]) => (left < right ? -1 : 1))
  return Object.fromEntries(entries.map(([name, item]) => [name, sorted(item)]))
}

/** A JSON value as a line for people: `stated 99900000, delivered 99000000`. Empty values are left out. */
export function wordsOf(value: unknown): string {
  if (value === null || typeof value !== 'object' || value instanceof Date) return wordOf(value)
  return Object.entries(value)
    .filter(([, inner]) => inner !== null)
    .map(([name, inner]) =>
      typeof inner === 'object' ? wordsOf(inner) : `${name.replaceAll('_', ' ')} ${wordOf(inner)}`,
    )
    .filter((text) => text !== '')
    .join(', ')
}

export function wordOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The detail of a mismatch as text, by field name. */
export function detailText(detail: Readonly<Record<string, string>>): string {
  return Object.entries(detail)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ')
}

/** A name and its text, on one line or several. */
export type Fact = { name: string; lines: readonly string[] }

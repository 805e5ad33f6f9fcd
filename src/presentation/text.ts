/** `stated 99900000, delivered 99000000`. Empty values are left out. */
export function objectText(value: unknown): string {
  if (value === null || typeof value !== 'object' || value instanceof Date) return valueText(value)
  return Object.entries(value)
    .filter(([, inner]) => inner !== null)
    .map(([name, inner]) =>
      typeof inner === 'object' ? objectText(inner) : `${name.replaceAll('_', ' ')} ${valueText(inner)}`,
    )
    .filter((text) => text !== '')
    .join(', ')
}

export function valueText(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export type Fact = { name: string; lines: readonly string[] }

export type TableColumn<Row> = { title: string; value: (row: Row) => string; align?: 'right' }

const serviceTitle = 'SERVICE'

/** Shown only if there are several services. */
export const serviceColumn: TableColumn<{ service: string | null }> = {
  title: serviceTitle,
  value: ({ service }) => service ?? '',
}

export type ServicesShown = { hasSeveralServices: boolean }

export function columnsFor<Column extends { title: string }>(
  columns: readonly Column[],
  { hasSeveralServices }: ServicesShown,
): readonly Column[] {
  return hasSeveralServices ? columns : columns.filter(({ title }) => title !== serviceTitle)
}

/** Text from external senders must not control the reader's terminal, or reverse the direction of a line. */
export function printable(text: string): string {
  return text.replace(/[^\P{C}\n\t]/gu, '\ufffd')
}

/** `4 s`, `3 min`, `2 h`, `5 d`. */
export function duration(seconds: number): string {
  if (seconds < 120) return `${Math.floor(seconds)} s`
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} h` : `${Math.floor(seconds / 86_400)} d`
}

/** The word with the fewest different letters; empty if more than half differ. */
export function didYouMean(text: string, words: readonly string[]): string {
  const byDistance = words
    .map((word) => ({ word, distance: distanceOf(text.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, distance }) => distance * 2 <= Math.max(word.length, text.length))
    .toSorted((one, other) => one.distance - other.distance)
  return byDistance[0] === undefined ? '' : `did you mean ${byDistance[0].word}? `
}

/** Levenshtein distance. */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (const [place, letter] of one.split('').entries()) {
    const next = [place + 1]
    for (const [index, otherLetter] of other.split('').entries()) {
      const kept = (row[index] ?? 0) + (letter === otherLetter ? 0 : 1)
      next.push(Math.min(kept, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}

export type CsvRow = { line: number; cells: readonly string[] }

export type CsvReading = { kind: 'rows'; rows: readonly CsvRow[] } | { kind: 'unclosed'; line: number }

/**
 * Reads comma-separated values as RFC 4180 has them: a cell in quotes may hold commas, line breaks and doubled quotes.
 * Lines without anything are passed over; `line` is where a row begins, the first being 1.
 */
export function readCsv(text: string): CsvReading {
  const rows: CsvRow[] = []
  let line = 1
  let begun = { line, cells: [] as string[] }
  // A cell and what ends it. Everything matches, so that nothing is skipped; a quote that is not closed stays a cell.
  const cellForm = /(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r\n|\n|\r|$)/gy
  for (const [whole, quoted, plain = '', end] of text.replace(/^\uFEFF/, '').matchAll(cellForm)) {
    if (quoted === undefined && plain.startsWith('"')) return { kind: 'unclosed', line }
    begun.cells.push(quoted?.replaceAll('""', '"') ?? plain.trim())
    line += lineBreaksIn(whole)
    if (end === ',') continue
    if (begun.cells.some((cell) => cell !== '')) rows.push(begun)
    begun = { line, cells: [] }
  }
  return { kind: 'rows', rows }
}

function lineBreaksIn(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0
}

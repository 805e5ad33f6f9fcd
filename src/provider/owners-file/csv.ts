export type CsvRow = { line: number; cells: readonly string[] }

export type CsvReading = { kind: 'rows'; rows: readonly CsvRow[] } | { kind: 'unclosed'; line: number }

/**
 * Parses comma-separated values (RFC 4180): a quoted cell may contain commas, line breaks and doubled quotes. Empty
 * lines are skipped. `line` is the line on which a row begins, counted from 1.
 */
export function readCsv(text: string): CsvReading {
  const rows: CsvRow[] = []
  let line = 1
  let begun = { line, cells: [] as string[] }
  // A cell and its terminator. Every text matches, so nothing is skipped; an unclosed quote remains a cell.
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

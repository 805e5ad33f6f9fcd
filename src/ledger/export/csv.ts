/** Quoted by RFC 4180, ends with a line feed. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\n`
}

/**
 * A spreadsheet runs a cell that begins like a formula, even after blanks. A leading apostrophe makes it text; a cell
 * that begins with one gets another, so that removing the first restores the text. Negative numbers are left unchanged.
 */
function csvCell(text: string): string {
  const isNegative = /^-\d+(\.\d+)?$/.test(text)
  const safe = !isNegative && /^[\s\p{C}'=+\-@\uff1d\uff0b\uff0d\uff20]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** A line of comma-separated values, quoted by RFC 4180, with a line feed at its end. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\n`
}

/**
 * A spreadsheet runs a cell that begins like a formula, even after blanks, and some of these texts come from external
 * senders. A leading apostrophe makes the cell text. A cell that begins with an apostrophe gets another one, so that
 * removing the first one restores the text. Numbers are left unchanged.
 */
function csvCell(text: string): string {
  const isNumber = /^-?\d+(\.\d+)?$/.test(text)
  const safe = !isNumber && /^[\s\p{C}'=+\-@\uff1d\uff0b\uff0d\uff20]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

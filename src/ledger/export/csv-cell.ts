/** A line of comma-separated values as RFC 4180 quotes them; it ends in a line feed. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\n`
}

/**
 * A spreadsheet takes a cell that begins like a formula, blanks aside, for one and runs it; and others wrote some of
 * these texts. An apostrophe before it makes it text; a cell that begins with one gets another, so that taking the
 * first one off gives the text again. Numbers are left alone.
 */
function csvCell(text: string): string {
  const isNumber = /^-?\d+(\.\d+)?$/.test(text)
  const safe = !isNumber && /^[\s\p{C}'=+\-@\uff1d\uff0b\uff0d\uff20]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

import type { Column } from '../telling/column.ts'
import { duration, printable } from '../telling/printable.ts'
import type { Context } from './context.ts'

export { type Column, duration, printable }

/** What a command found: a shell can tell bad news by the exit status. */
export type News = 'good' | 'bad'

/** Writes rows as a table for people, or as one JSON document with every field. */
export function printRows<Row>(
  context: Context,
  rows: readonly Row[],
  { columns, json, empty }: { columns: readonly Column<Row>[]; json: boolean; empty: string },
): void {
  if (json) printJson(context, rows)
  else if (rows.length === 0) context.stdout.write(`${empty}\n`)
  else context.stdout.write(table(rows, columns))
}

export function printJson({ stdout }: Context, document: unknown): void {
  const text = JSON.stringify(
    document,
    (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
    2,
  )
  stdout.write(`${text}\n`)
}

/** One line that is written over on a terminal; a line for each that is told elsewhere. */
export function tellProgress({ stderr }: Context): (line: string) => void {
  const isTerminal = 'isTTY' in stderr && stderr.isTTY === true
  return (line) => void stderr.write(isTerminal ? `\r\u001b[K${line}` : `${line}\n`)
}

/** Columns as wide as their widest cell, two spaces apart. What strangers sent stays in its cell. */
export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ of }) => cellText(of(row)))),
  ]
  const widths = columns.map((_column, place) => Math.max(...cells.map((line) => line[place]?.length ?? 0)))
  const lines = cells.map((line) =>
    line
      .map((cell, place) =>
        columns[place]?.align === 'right'
          ? cell.padStart(widths[place] ?? 0)
          : cell.padEnd(widths[place] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  )
  return `${lines.join('\n')}\n`
}

function cellText(text: string): string {
  return printable(text).replaceAll(/[\n\t]+/g, ' ')
}

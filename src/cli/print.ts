import { duration, printable, type TableColumn } from '../presentation/text.ts'
import { digitsOf } from '../provider/lossless-json.ts'
import type { Context, ProgramContext } from './context.ts'

export { duration, printable, type TableColumn }

/** Bad news changes the exit status. */
export type News = 'good' | 'bad'

/** The document with `--json`, otherwise the text. */
export function print(context: Context, document: unknown, text: string): void {
  if (context.json) printJson(context, document)
  else context.stdout.write(text)
}

/** A document with a format of its own, such as a profile: names are printed unchanged. */
export class AsWritten {
  readonly document: unknown
  constructor(document: unknown) {
    this.document = document
  }
}

/** Names in snake_case, as in the accounting views; a bigint is text. With an indent of 0, in one line. */
export function printJson({ stdout }: Pick<ProgramContext, 'stdout'>, document: unknown, indent = 2): void {
  const text = JSON.stringify(
    named(document),
    (_name, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
    indent,
  )
  stdout.write(`${text}\n`)
}

function named(value: unknown): unknown {
  if (value instanceof AsWritten) return value.document
  if (Array.isArray(value)) return value.map(named)
  if (typeof value !== 'object' || value === null || 'toJSON' in value || digitsOf(value) !== null)
    return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [snakeCase(name), named(one)]))
}

function snakeCase(name: string): string {
  return /^[a-z]+(?:[A-Z0-9][a-z0-9]*)+$/.test(name)
    ? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    : name
}

/** Quoted if a shell would not take it as one word. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** On a terminal, overwrites one line. */
export function reportProgress({ stderr }: Context): (line: string) => void {
  const isTerminal = 'isTTY' in stderr && stderr.isTTY === true
  return (line) => void stderr.write(isTerminal ? `\r\u001b[K${line}` : `${line}\n`)
}

/** Text from outside cannot break out of its cell. */
export function table<Row>(rows: readonly Row[], columns: readonly TableColumn<Row>[]): string {
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ value }) => cellText(value(row)))),
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

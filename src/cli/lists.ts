import type { Command } from 'commander'
import type { Fault } from '../core/errors.ts'
import type { TableColumn } from '../presentation/text.ts'
import type { Context } from './context.ts'
import { badValue, ranged } from './options.ts'
import { print, shellWord, table } from './print.ts'

const limitMax = 100_000

export type ListOptions = { limit: number; after?: string }

/** `next` is the value of `--after` for the next page; null on the last page. */
export type ListPage<Row> = { items: readonly Row[]; next: string | null }

/** `limit` is one more than are shown. */
export type PageRequest = { limit: number; after: readonly string[] | null }

export function listed(command: Command, limit: number, what = 'rows'): Command {
  return limited(command, limit, what)
    .option('--after <cursor>', 'continue after an earlier page; the cursor is its "next"')
    .option('--json', 'print one JSON document: {"items": [...], "next": cursor or null}')
}

export function limited(command: Command, limit: number, what: string): Command {
  const option = ranged('--limit <count>', `show at most this many ${what}`, { min: 1, max: limitMax })
  return command.addOption(option.default(limit))
}

/** The name is part of the cursors; the key orders the rows. */
export type ListKeyset<Row> = { list: string; keyOf: (row: Row) => readonly string[] }

export async function readPage<Row>(
  { limit, after }: ListOptions,
  paging: ListKeyset<Row>,
  read: (request: PageRequest) => Promise<readonly Row[]>,
): Promise<ListPage<Row>> {
  const rows = await read({
    limit: limit + 1,
    after: after === undefined ? null : keyIn(after, paging.list),
  })
  return firstOf(rows, limit, paging)
}

export function pageOf<Row>(
  rows: readonly Row[],
  { limit, after }: ListOptions,
  paging: ListKeyset<Row>,
): ListPage<Row> {
  if (after === undefined) return firstOf(rows, limit, paging)
  const key = JSON.stringify(keyIn(after, paging.list))
  const position = rows.findIndex((row) => JSON.stringify(paging.keyOf(row)) === key)
  if (position < 0) throw badCursor(after)
  return firstOf(rows.slice(position + 1), limit, paging)
}

export function idIn(key: readonly string[] | null): bigint | undefined {
  return key === null ? undefined : BigInt(key[0] ?? 0)
}

/** For a list that is never cut. */
export function wholeOf<Row>(items: readonly Row[]): ListPage<Row> {
  return { items, next: null }
}

function firstOf<Row>(rows: readonly Row[], limit: number, { list, keyOf }: ListKeyset<Row>): ListPage<Row> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next: last === undefined || rows.length <= limit ? null : cursorOf(list, keyOf(last)) }
}

/** Base64url needs no quotes in a shell. */
function cursorOf(list: string, key: readonly string[]): string {
  return Buffer.from(JSON.stringify([list, ...key])).toString('base64url')
}

function keyIn(cursor: string, list: string): readonly string[] {
  const parts = partsIn(cursor)
  if (parts === null || parts[0] !== list) throw badCursor(cursor)
  return parts.slice(1)
}

function partsIn(cursor: string): readonly string[] | null {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(parts) && parts.every((one) => typeof one === 'string') ? parts : null
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

function badCursor(cursor: string): Fault<'usage_bad'> {
  const fix = 'use the cursor in the last line or in "next" of an earlier page, or omit --after to start over'
  return badValue('--after', cursor, fix)
}

type ListTable<Row> = { columns: readonly TableColumn<Row>[]; empty: string }

export function printList<Row>(
  context: Context,
  page: ListPage<Row>,
  { columns, empty }: ListTable<Row>,
): void {
  const rows = page.items.length === 0 ? `${empty}\n` : table(page.items, columns)
  print(context, page, `${rows}${goOnLine(context, page)}`)
}

/** Gives the command for the next page; empty on the last page. */
export function goOnLine({ arguments: words }: Context, { items, next }: ListPage<unknown>): string {
  if (next === null) return ''
  return `Showing ${items.length}; more follow: bin/depositd ${[...withoutAfter(words), '--after', next].map(shellWord).join(' ')}\n`
}

function withoutAfter(words: readonly string[]): string[] {
  return words.filter(
    (word, index) => word !== '--after' && words[index - 1] !== '--after' && !word.startsWith('--after='),
  )
}

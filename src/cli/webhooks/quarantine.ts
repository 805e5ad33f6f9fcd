import { isTaken, type QuarantineRetryOutcome, retryAtOnce } from '../../app/retry.ts'
import type { Fault } from '../../core/errors.ts'
import { dropText, quarantineColumns, retrySentences } from '../../presentation/lists.ts'
import { columnsFor } from '../../presentation/text.ts'
import { inTransaction } from '../../store/database.ts'
import {
  dropQuarantined,
  listQuarantine,
  type QuarantinedRow,
  type QuarantineLine,
  readQuarantine,
} from '../../store/quarantine.ts'
import { attachedSettings, type Context, withDatabase } from '../context.ts'
import { checkFilters } from '../filters.ts'
import { idIn, type ListKeyset, type ListOptions, printList, readPage, wholeOf } from '../lists.ts'
import { notFound, textOf, wrongUse } from '../options.ts'
import { recordAct } from '../people/signing.ts'
import { AsWritten, type News, print, printable } from '../print.ts'

const paging: ListKeyset<QuarantineLine> = { list: 'quarantine', keyOf: ({ id }) => [id] }

export async function listQuarantineCommand(
  context: Context,
  { service, ...options }: ListOptions & { service?: string },
): Promise<void> {
  const { page, services } = await withDatabase(context, async (db) => ({
    services: await checkFilters(context, db, { service }),
    page: await readPage(options, paging, ({ limit, after }) =>
      listQuarantine(db, { limit, before: idIn(after), service }),
    ),
  }))
  printList(context, page, {
    columns: columnsFor(quarantineColumns, services),
    empty: 'the quarantine is empty',
  })
}

/** With `json`, as one line of a file of captures. */
export async function showQuarantineCommand(context: Context, id: string): Promise<void> {
  const ids = idsOf([id])
  const [row] = await withDatabase(context, (db) => readQuarantine(db, { ids, after: 0n, limit: 1 }))
  if (row === undefined) throw unknown(id)
  print(context, new AsWritten(captureOf(row)), shownText(row))
}

function captureOf({ service, headers, body, receivedAt, source, reason }: QuarantinedRow) {
  return {
    headers,
    body_base64: body.toString('base64'),
    received_at: receivedAt.toISOString(),
    service,
    source,
    reason,
  }
}

function shownText({ id, service, receivedAt, source, reason, headers, body }: QuarantinedRow): string {
  const lines = Object.entries(headers).map(([name, value]) => `  ${name}: ${printable(value)}\n`)
  return [
    `delivery ${id}: ${reason}\n`,
    `  received ${receivedAt.toISOString()} from ${source} for service ${service}, ${body.length} bytes\n\n`,
    ...lines,
    `\n${printable(body.toString())}\n`,
  ].join('')
}

/** Bad news if any delivery is still refused. */
export async function retryQuarantineCommand(context: Context, words: readonly string[]): Promise<News> {
  const ids = words.length === 0 ? null : idsOf(words)
  const settings = attachedSettings(context)
  const report = (count: number) => void (context.json || context.stderr.write(`verified ${count}\n`))
  const retried = await withDatabase(context, async (db) => {
    const outcomes = await retryAtOnce(db, settings, { ids, report })
    await recordAct(context, db, { action: 'webhooks_retried', detail: retrySentences(outcomes).join(', ') })
    return outcomes
  })
  const missing = ids?.find((id) => !retried.some((one) => one.id === id))
  if (missing !== undefined) throw unknown(String(missing))
  print(context, wholeOf(retried), sentenceOf(retried))
  return retried.every(({ outcome }) => isTaken(outcome)) ? 'good' : 'bad'
}

function sentenceOf(retried: readonly QuarantineRetryOutcome[]): string {
  return retrySentences(retried)
    .map((sentence) => `${sentence}\n`)
    .join('')
}

export async function dropQuarantineCommand(
  context: Context,
  words: readonly string[],
  { all = false, reason }: { all?: boolean; reason?: string },
): Promise<void> {
  if (all === words.length > 0) throw wrongUse('no delivery given', 'give their numbers, or --all')
  const ids = all ? null : idsOf(words)
  const why = reason === undefined ? null : textOf('--reason', reason)
  const dropped = await withDatabase(context, (db) =>
    inTransaction(db, async (tx) => {
      const ended = await dropQuarantined(tx, ids)
      await recordAct(context, tx, { action: 'webhooks_dropped', detail: dropText(ended, why) })
      return ended
    }),
  )
  print(context, { dropped: dropped.length }, `${dropped.length} deleted\n`)
}

function idsOf(words: readonly string[]): bigint[] {
  return words.map((word) => {
    if (/^[1-9]\d{0,17}$/.test(word)) return BigInt(word)
    throw unknown(word)
  })
}

function unknown(id: string): Fault<'not_found'> {
  return notFound(`delivery ${id}`, 'use a number from "bin/depositd webhooks quarantine list"')
}

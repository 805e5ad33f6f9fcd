import { type JournalFile, parseJournalFile } from '../../config/journal-file.ts'
import type { Fault } from '../../core/errors.ts'
import { checkJournal, type JournalPreview } from '../../jobs/books/book-by-hand.ts'
import { checkReversal } from '../../jobs/books/reverse-by-hand.ts'
import type { JsonValue } from '../../people/decision.ts'
import { transferColumns } from '../../presentation/deposit.ts'
import { journalColumns, placeOf } from '../../presentation/journal.ts'
import { type AssetNames, readAssetNames } from '../../store/assets.ts'
import {
  type BookedJournal,
  type ByHand,
  type JournalLine,
  type LedgerJournalKind,
  listJournals,
  readJournal,
} from '../../store/ledger/journals.ts'
import { nameOf } from '../actor.ts'
import { attachedSettings, type Context, withDatabase } from '../context.ts'
import { journalDocument } from '../documents.ts'
import { readTextFile } from '../files.ts'
import { idIn, type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import { notFound, textOf, wrongUse } from '../options.ts'
import { decideCommand } from '../people/decide.ts'
import { print, printable, table } from '../print.ts'
import { monthOption } from './moments.ts'

type ManualJournalOptions = { breakGlass?: string; dryRun?: boolean }

export async function addJournalCommand(
  context: Context,
  path: string,
  { dryRun, breakGlass }: ManualJournalOptions,
): Promise<void> {
  const written = readJournalFile(path)
  const { accounts } = attachedSettings(context)
  const books = { accountPatterns: accounts.known, guards: accounts.guards, now: new Date() }
  if (dryRun === true)
    return withDatabase(context, async (db) =>
      printDryRun(context, await checkJournal({ db, ...books }, written), await readAssetNames(db)),
    )
  const change = { ...written, date: written.date.toISOString() } as unknown as JsonValue
  await decideCommand(context, { kind: 'journal', change }, breakGlass)
}

export async function reverseJournalCommand(
  context: Context,
  word: string,
  { reason, dryRun, breakGlass }: ManualJournalOptions & { reason: string },
): Promise<void> {
  const id = journalId(word)
  const why = { reason: textOf('--reason', reason) }
  if (dryRun === true)
    return withDatabase(context, async (db) =>
      printDryRun(context, await checkReversal(db, id, why), await readAssetNames(db)),
    )
  const change = { journal: id.toString(), ...why }
  await decideCommand(context, { kind: 'reversal', change }, breakGlass)
}

function printDryRun(context: Context, journal: JournalPreview, assets: AssetNames): void {
  printJournal(context, { line: `valid, not booked: ${journal.key}, ${placeOf(journal)}`, journal, assets })
}

export async function showJournalCommand(context: Context, word: string): Promise<void> {
  const id = journalId(word)
  await withDatabase(context, async (db) => {
    const journal = await readJournal(db, id)
    if (journal === null) throw noJournal(word)
    printJournal(context, { line: textLines(journal), journal, assets: await readAssetNames(db) })
  })
}

function readJournalFile(path: string): JournalFile {
  const fix = 'give a YAML or JSON file as described in docs/journals-by-hand.md'
  const { file, faults } = parseJournalFile(readTextFile('the journal file', path, fix))
  if (file !== null) return file
  throw wrongUse(`${path}: ${faults.join('; ')}`, 'correct the file; nothing was booked')
}

function journalId(word: string): bigint {
  if (/^\d{1,18}$/.test(word)) return BigInt(word)
  throw noJournal(word)
}

function noJournal(word: string): Fault {
  return notFound(`journal ${word}`, 'use a number from "bin/depositd ledger journal list"')
}

type JournalPrintout = { line: string; journal: BookedJournal | JournalPreview; assets: AssetNames }

function printJournal(context: Context, { line, journal, assets }: JournalPrintout): void {
  const document = journalDocument(journal, assets)
  const text = `${printable(line)}\n${table(document.transfers, transferColumns)}`
  print(context, document, text)
}

function textLines({ id, key, kind, ...journal }: BookedJournal): string {
  const { eventAt, recordedAt, period, depositId, reverses, reversedBy, byHand } = journal
  const lines = [
    `journal ${id}: ${kind}, ${key}`,
    `event at ${eventAt.toISOString()}, recorded ${recordedAt.toISOString()}, ${placeOf({ period, eventAt })}`,
    depositId === null ? null : `deposit ${depositId}`,
    byHand && `by ${byHand.by}, approved by ${byHand.approvedBy}, ${signedText(byHand)}: ${byHand.reason}`,
    reverses === null ? null : `reverses journal ${reverses}`,
    reversedBy === null ? null : `reversed by journal ${reversedBy}`,
  ]
  return lines.filter((line) => line !== null).join('\n')
}

function signedText({ decision }: ByHand): string {
  return decision == null ? 'not signed' : `decision ${decision}`
}

type ListJournalsOptions = ListOptions & { period?: string; kind?: LedgerJournalKind; by?: string }

const paging: ListKeyset<JournalLine> = { list: 'journals', keyOf: ({ id }) => [id.toString()] }

export async function listJournalsCommand(context: Context, options: ListJournalsOptions): Promise<void> {
  const filter = {
    period: options.period === undefined ? null : monthOption(options.period),
    kind: options.kind ?? null,
    by: options.by === undefined ? null : nameOf('--by', options.by),
  }
  const page = await withDatabase(context, (db) =>
    readPage(options, paging, ({ limit, after }) =>
      listJournals(db, { ...filter, before: idIn(after) ?? null }, limit),
    ),
  )
  printList(context, page, { columns: journalColumns, empty: 'no journals' })
}

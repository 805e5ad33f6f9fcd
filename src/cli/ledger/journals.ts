import { type JournalFile, parseJournalFile } from '../../config/journal-file.ts'
import type { Fault } from '../../core/errors.ts'
import { addJournal, checkJournal, type JournalPreview } from '../../jobs/books/book-by-hand.ts'
import { checkReversal, reverseJournal } from '../../jobs/books/reverse-by-hand.ts'
import { transferColumns } from '../../presentation/deposit.ts'
import { type AssetNames, readAssetNames } from '../../store/assets.ts'
import {
  type BookedJournal,
  type JournalLine,
  type LedgerJournalKind,
  listJournals,
  readJournal,
} from '../../store/ledger/journals.ts'
import { actorOf, actorText, nameOf } from '../actor.ts'
import { attachedSettings, type Context, withDatabase } from '../context.ts'
import { journalDocument } from '../documents.ts'
import { readTextFile } from '../files.ts'
import { idIn, type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import { notFound, textOf, wrongUse } from '../options.ts'
import { print, printable, type TableColumn, table } from '../print.ts'
import { monthOption } from './moments.ts'

export type ManualJournalOptions = { by?: string; approvedBy: string; dryRun?: boolean }

export async function addJournalCommand(
  context: Context,
  path: string,
  { dryRun, ...options }: ManualJournalOptions,
): Promise<void> {
  const { actor, people } = peopleOf(options)
  const written = readJournalFile(path)
  const { accounts } = attachedSettings(context)
  await withDatabase(context, async (db) => {
    const deps = { db, accountPatterns: accounts.known, guards: accounts.guards, now: new Date() }
    const assets = await readAssetNames(db)
    if (dryRun === true) return printDryRun(context, await checkJournal(deps, written), assets)
    const journal = await addJournal(deps, written, people)
    const did = `booked as journal ${journal.id}, ${actorText(actor)}, approved by ${people.approvedBy}`
    return printJournal(context, { line: `${did}\n${placeOf(journal)}`, journal, assets })
  })
}

export async function reverseJournalCommand(
  context: Context,
  word: string,
  { reason, dryRun, ...options }: ManualJournalOptions & { reason: string },
): Promise<void> {
  const { actor, people } = peopleOf(options)
  const id = journalId(word)
  const byHand = { ...people, reason: textOf('--reason', reason) }
  await withDatabase(context, async (db) => {
    const assets = await readAssetNames(db)
    if (dryRun === true) return printDryRun(context, await checkReversal(db, id, byHand), assets)
    const journal = await reverseJournal(db, id, byHand)
    const did = `journal ${id} is reversed by journal ${journal.id}, ${actorText(actor)}, approved by ${people.approvedBy}`
    return printJournal(context, { line: `${did}\n${placeOf(journal)}`, journal, assets })
  })
}

function printDryRun(context: Context, journal: JournalPreview, assets: AssetNames): void {
  printJournal(context, { line: `valid, not booked: ${journal.key}, ${placeOf(journal)}`, journal, assets })
}

/** The month of the books, and that of the event if it differs: the journal is then late. */
export function placeOf({ period, eventAt }: Pick<JournalPreview, 'period' | 'eventAt'>): string {
  const [books, happened] = [period.slice(0, 7), eventAt.toISOString().slice(0, 7)]
  const late = books === happened ? '' : `, late: the event was in ${happened}`
  return `in the books of ${books}${late}`
}

export async function showJournalCommand(context: Context, word: string): Promise<void> {
  const id = journalId(word)
  await withDatabase(context, async (db) => {
    const journal = await readJournal(db, id)
    if (journal === null) throw noJournal(word)
    printJournal(context, { line: textLines(journal), journal, assets: await readAssetNames(db) })
  })
}

export function peopleOf({ by, approvedBy }: ManualJournalOptions) {
  const actor = actorOf(by)
  return { actor, people: { by: actor.name, approvedBy: nameOf('--approved-by', approvedBy) } }
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
    byHand && `by ${byHand.by}, approved by ${byHand.approvedBy}: ${byHand.reason}`,
    reverses === null ? null : `reverses journal ${reverses}`,
    reversedBy === null ? null : `reversed by journal ${reversedBy}`,
  ]
  return lines.filter((line) => line !== null).join('\n')
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

const journalColumns: TableColumn<JournalLine>[] = [
  { title: 'JOURNAL', value: ({ id }) => id.toString(), align: 'right' },
  { title: 'WHAT', value: ({ kind }) => kind },
  { title: 'HAPPENED', value: ({ event_at: at }) => at.toISOString() },
  {
    title: 'BOOKS OF',
    value: ({ period, belongs_to: month }) => `${period}${period === month ? '' : ' late'}`,
  },
  {
    title: 'DEPOSIT',
    value: ({ deposit_id: id, changed_at: at }) => `${id ?? ''}${at === null ? '' : ' changed'}`,
    align: 'right',
  },
  { title: 'REVERSES', value: ({ reverses }) => reverses?.toString() ?? '', align: 'right' },
  { title: 'REVERSED BY', value: ({ reversed_by: id }) => id?.toString() ?? '', align: 'right' },
  { title: 'BY', value: ({ made_by: by, approved_by: second }) => (by === null ? '' : `${by}, ${second}`) },
  { title: 'WHY', value: ({ reason }) => reason ?? '' },
]

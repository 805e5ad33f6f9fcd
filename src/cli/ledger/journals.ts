import { readFileSync } from 'node:fs'
import { type JournalFile, parseJournalFile } from '../../config/journal-file.ts'
import { Fault, messageOf } from '../../core/errors.ts'
import { formatAmount } from '../../core/money.ts'
import type { LedgerTransfer } from '../../core/posting.ts'
import {
  addJournal,
  checkJournal,
  checkReversal,
  type JournalPreview,
  reverseJournal,
} from '../../jobs/books/book-by-hand.ts'
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
import { idIn, type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import { textOf } from '../options.ts'
import { printable, printJson, type TableColumn, table } from '../print.ts'
import { monthOption } from './moments.ts'

type ManualJournalOptions = { by?: string; approvedBy: string; dryRun?: boolean; json?: boolean }

export async function addJournalCommand(
  context: Context,
  path: string,
  { dryRun, json, ...options }: ManualJournalOptions,
): Promise<void> {
  const { actor, people } = peopleOf(options)
  const written = readJournalFile(path)
  const { accounts } = attachedSettings(context)
  await withDatabase(context, async (db) => {
    const deps = { db, accountPatterns: accounts.known, now: new Date() }
    const assets = await readAssetNames(db)
    if (dryRun === true) {
      const journal = await checkJournal(deps, written)
      print(context, { line: dryLine(journal), journal, assets }, json)
    } else {
      const journal = await addJournal(deps, written, people)
      const did = `booked as journal ${journal.id}, ${actorText(actor)}, approved by ${people.approvedBy}`
      print(context, { line: `${did}\n${placeOf(journal)}`, journal, assets }, json)
    }
  })
}

export async function reverseJournalCommand(
  context: Context,
  word: string,
  { reason, dryRun, json, ...options }: ManualJournalOptions & { reason: string },
): Promise<void> {
  const { actor, people } = peopleOf(options)
  const id = journalId(word)
  const byHand = { ...people, reason: textOf('--reason', reason) }
  await withDatabase(context, async (db) => {
    const assets = await readAssetNames(db)
    if (dryRun === true) {
      const journal = await checkReversal(db, id, byHand)
      print(context, { line: dryLine(journal), journal, assets }, json)
    } else {
      const journal = await reverseJournal(db, id, byHand)
      const did = `journal ${id} is reversed by journal ${journal.id}, ${actorText(actor)}, approved by ${people.approvedBy}`
      print(context, { line: `${did}\n${placeOf(journal)}`, journal, assets }, json)
    }
  })
}

function dryLine(journal: JournalPreview): string {
  return `valid, not booked: ${journal.key}, ${placeOf(journal)}`
}

/** The month of the books, and that of the event if it differs: the journal is then late. */
function placeOf({ period, eventAt }: Pick<JournalPreview, 'period' | 'eventAt'>): string {
  const [books, happened] = [period.slice(0, 7), eventAt.toISOString().slice(0, 7)]
  const late = books === happened ? '' : `, late: the event was in ${happened}`
  return `in the books of ${books}${late}`
}

export async function showJournalCommand(
  context: Context,
  word: string,
  { json }: { json?: boolean },
): Promise<void> {
  const id = journalId(word)
  await withDatabase(context, async (db) => {
    const journal = await readJournal(db, id)
    if (journal === null) throw noJournal(word)
    print(context, { line: textLines(journal), journal, assets: await readAssetNames(db) }, json)
  })
}

function peopleOf({ by, approvedBy }: ManualJournalOptions) {
  const actor = actorOf(by === undefined ? {} : { by })
  return { actor, people: { by: actor.name, approvedBy: nameOf('--approved-by', approvedBy) } }
}

function readJournalFile(path: string): JournalFile {
  const { file, faults } = parseJournalFile(readText(path))
  if (file !== null) return file
  throw new Fault('usage_bad', {
    problem: `${path}: ${faults.join('; ')}`,
    fix: 'correct the file; nothing was booked',
  })
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Fault('usage_bad', {
      problem: `the journal file cannot be read: ${messageOf(error)}`,
      fix: 'give a YAML or JSON file as described in docs/journals-by-hand.md',
    })
  }
}

function journalId(word: string): bigint {
  if (/^\d{1,18}$/.test(word)) return BigInt(word)
  throw noJournal(word)
}

function noJournal(word: string): Fault {
  return new Fault('not_found', {
    problem: `journal ${word} not found`,
    fix: 'use a number from "bin/depositd ledger journal list"',
  })
}

type JournalPrintout = { line: string; journal: BookedJournal | JournalPreview; assets: AssetNames }

function print(context: Context, { line, journal, assets }: JournalPrintout, json = false): void {
  if (json) printJson(context, journalDocument(journal, assets))
  else context.stdout.write(`${printable(line)}\n${table(journal.transfers, columnsOf(assets))}`)
}

function columnsOf(assets: AssetNames): TableColumn<LedgerTransfer>[] {
  const named = (asset: string) => assets.get(asset) ?? { symbol: '', decimals: 0 }
  return [
    { title: 'DEBIT', value: ({ debit }) => debit },
    { title: 'CREDIT', value: ({ credit }) => credit },
    {
      title: 'AMOUNT',
      value: ({ asset, amount }) => formatAmount(amount, named(asset).decimals),
      align: 'right',
    },
    { title: 'SYMBOL', value: ({ asset }) => named(asset).symbol },
    { title: 'ASSET', value: ({ asset }) => asset },
  ]
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
  printList(context, page, { columns: journalColumns, json: options.json, empty: 'no journals' })
}

const journalColumns: TableColumn<JournalLine>[] = [
  { title: 'JOURNAL', value: ({ id }) => id.toString(), align: 'right' },
  { title: 'WHAT', value: ({ kind }) => kind },
  { title: 'HAPPENED', value: ({ event_at: at }) => at.toISOString() },
  {
    title: 'BOOKS OF',
    value: ({ period, belongs_to: month }) => `${period}${period === month ? '' : ' late'}`,
  },
  { title: 'DEPOSIT', value: ({ deposit_id: id }) => id?.toString() ?? '', align: 'right' },
  { title: 'REVERSES', value: ({ reverses }) => reverses?.toString() ?? '', align: 'right' },
  { title: 'REVERSED BY', value: ({ reversed_by: id }) => id?.toString() ?? '', align: 'right' },
  { title: 'BY', value: ({ made_by: by, approved_by: second }) => (by === null ? '' : `${by}, ${second}`) },
  { title: 'WHY', value: ({ reason }) => reason ?? '' },
]

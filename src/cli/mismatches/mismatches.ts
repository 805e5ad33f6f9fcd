import { type Severity, severities } from '../../core/mismatches/kind-entry.ts'
import {
  type Advice,
  adviceOf,
  attachmentColumns,
  historyColumns,
  type MismatchDetail,
  mismatchColumns,
  mismatchFacts,
} from '../../presentation/mismatch.ts'
import { columnsFor, type ServicesShown, valueText } from '../../presentation/text.ts'
import type { Database } from '../../store/database.ts'
import {
  listMismatches,
  type MismatchFilter,
  type MismatchLine,
  type ShownMismatch,
  showMismatch,
} from '../../store/mismatches/show-mismatches.ts'
import type { Tables } from '../../store/tables.ts'
import { mismatchIds } from '../actor.ts'
import { type Context, withDatabase } from '../context.ts'
import { factsText } from '../deposits/deposits.ts'
import { causedDocument, historyDocument } from '../documents.ts'
import { checkFilters } from '../filters.ts'
import {
  idIn,
  type ListKeyset,
  type ListOptions,
  type ListPage,
  type PageRequest,
  printList,
  readPage,
} from '../lists.ts'
import { notFound } from '../options.ts'
import { type News, print, printable, table } from '../print.ts'

type ListMismatchesOptions = ListOptions & {
  kind?: string
  severity?: string
  service?: string
  network?: string
  assigned?: string
  /** In milliseconds. */
  olderThan?: number
  overdue?: boolean
  snoozed?: boolean
  all?: boolean
  failOn?: Severity
}

const paging: ListKeyset<MismatchLine> = { list: 'mismatches', keyOf: ({ id }) => [id] }

/** Bad news if a filtered mismatch is open or snoozed, and at least as severe as `--fail-on`. */
export async function listMismatchesCommand(context: Context, options: ListMismatchesOptions): Promise<News> {
  const filter = filterOf(options)
  const { page, isBad, services } = await withDatabase(context, async (db) => {
    const shown = await checkFilters(context, db, options)
    const read = ({ limit, after }: PageRequest) =>
      listMismatches(db, { ...filter, limit, after: idIn(after) })
    const found = await readPage(options, paging, read)
    return { page: found, isBad: await hasGrave(db, filter, options), services: shown }
  })
  printMismatches(context, page, services)
  return isBad ? 'bad' : 'good'
}

/** Queries the database, because the shown page may be cut. */
async function hasGrave(
  db: Database<Tables>,
  filter: Omit<MismatchFilter, 'limit'>,
  { failOn, severity }: ListMismatchesOptions,
): Promise<boolean> {
  const grave = failOn === undefined ? [] : severities.slice(0, severities.indexOf(failOn) + 1)
  const asked = grave.filter((one) => severity === undefined || one === severity)
  const also = filter.also === 'all' ? 'snoozed' : filter.also
  const found = await Promise.all(
    asked.map((one) => listMismatches(db, { ...filter, also, severity: one, limit: 1 })),
  )
  return found.flat().length > 0
}

export function printMismatches(
  context: Context,
  page: ListPage<MismatchLine>,
  services: ServicesShown,
): void {
  const shown = { ...page, items: page.items.map(causedDocument) }
  printList(context, shown, { columns: columnsFor(mismatchColumns, services), empty: 'no mismatches' })
}

function filterOf(options: ListMismatchesOptions): Omit<MismatchFilter, 'limit'> {
  const { kind, severity, service, network, assigned, olderThan = 0, overdue, snoozed, all } = options
  return {
    kind,
    severity,
    service,
    network,
    assigned,
    olderThanSeconds: olderThan / 1000,
    isOverdue: overdue === true,
    also: all === true ? 'all' : snoozed === true ? 'snoozed' : 'nothing',
  }
}

export async function showMismatchCommand(context: Context, word: string): Promise<void> {
  const [id = 0n] = mismatchIds([word])
  const { shown, services } = await withDatabase(context, async (db) => ({
    shown: await showMismatch(db, id),
    services: await checkFilters(context, db, {}),
  }))
  if (shown === null)
    throw notFound(`mismatch ${id}`, 'use a number from "bin/depositd mismatches list --all"')
  const advice = adviceOf(shown)
  print(context, { ...shownDocument(shown), ...advice }, printable(textOf(shown, { ...advice, ...services })))
}

function shownDocument({ mismatch, deposit, history, attachments }: ShownMismatch): object {
  return {
    attachments,
    mismatch: causedDocument(mismatch),
    deposit,
    history: history.map((line) => historyDocument(line, mismatch)),
  }
}

function textOf(shown: MismatchDetail, advice: Advice & ServicesShown): string {
  const { mismatch, history, attachments } = shown
  const past = indented(table(history, historyColumns(mismatch)))
  const title = `mismatch ${valueText(mismatch.id)}: ${mismatch.kind} (${mismatch.severity}), ${mismatch.status}`
  const files =
    attachments.length === 0 ? '' : `\n  attachments\n${indented(table(attachments, attachmentColumns))}`
  return `${title}\n${factsText(mismatchFacts(shown, advice), 9)}\n  history\n${past}${files}`
}

function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '    ')
}

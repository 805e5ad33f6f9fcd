import { changePeriod, type PeriodChangeResult } from '../../jobs/books/close-period.ts'
import { type Period, parsePeriod } from '../../ledger/period.ts'
import { namesOf, periodColumns } from '../../presentation/ledger.ts'
import {
  listPeriodHistory,
  listPeriods,
  type PeriodChange,
  type PeriodHistoryLine,
  type PeriodLine,
} from '../../store/ledger/periods.ts'
import { type Actor, actorOf, actorText, nameOf } from '../actor.ts'
import { type Context, longQueryMs, withDatabase } from '../context.ts'
import { idIn, type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import { textOf, wrongUse } from '../options.ts'
import { print, printable, type TableColumn } from '../print.ts'

type PeriodOptions = { by?: string; approvedBy?: string; reason?: string }

export async function closeCommand(
  context: Context,
  month: string,
  { soft, force, ...options }: PeriodOptions & { soft?: boolean; force?: boolean },
): Promise<void> {
  if (force === true) refuseForce(options)
  const action = soft === true ? 'soft_closed' : 'closed'
  await changeMonth(context, { month, action, forced: force === true }, options)
}

function refuseForce({ approvedBy, reason }: PeriodOptions): void {
  const missing = [
    ...(approvedBy === undefined ? ['the second person with --approved-by'] : []),
    ...(reason === undefined ? ['the reason with --reason'] : []),
  ]
  if (missing.length > 0)
    throw wrongUse('--force requires a second person and a reason', `give ${missing.join(', and ')}`)
}

export async function reopenCommand(context: Context, month: string, options: PeriodOptions): Promise<void> {
  await changeMonth(context, { month, action: 'reopened', forced: false }, options)
}

type PeriodChangeRequest = Pick<PeriodChange, 'action' | 'forced'> & { month: string }

async function changeMonth(
  context: Context,
  { month, ...request }: PeriodChangeRequest,
  { by, approvedBy, reason }: PeriodOptions,
): Promise<void> {
  const actor = actorOf(by)
  const change: PeriodChange = {
    ...request,
    period: periodOf(month),
    by: actor.name,
    approvedBy: approvedBy === undefined ? null : nameOf('--approved-by', approvedBy),
    reason: reason === undefined ? null : textOf('--reason', reason),
  }
  if (change.approvedBy?.toLowerCase() === change.by.toLowerCase())
    throw wrongUse(`${change.approvedBy} cannot approve their own change`, 'give another person')
  const result = await withDatabase(context, (db) => changePeriod(db, change), longQueryMs)
  const { period, action } = change
  print(context, { period, action, ...result }, printable(textOfChange(change, result, actor)))
}

/** @throws Fault `usage_bad` */
function periodOf(text: string): Period {
  const period = parsePeriod(text)
  if (period !== null) return period
  throw wrongUse(`${JSON.stringify(text)} is not a month`, 'use the form 2026-01')
}

const actionTexts = { soft_closed: 'soft-closed', closed: 'closed', reopened: 'reopened' } as const

function textOfChange({ period, action }: PeriodChange, result: PeriodChangeResult, actor: Actor): string {
  const { severeOpen, sha256, lines, severeElsewhere, revaluation } = result
  return [
    `${period} is ${actionTexts[action]}, ${actorText(actor)}`,
    ...(sha256 === null ? [] : [`trial balance of ${lines} lines, SHA-256 ${sha256}`]),
    ...(revaluation === null
      ? []
      : [`unrealised gains at its end: ${revaluation.gain} ${revaluation.currency}`]),
    ...(severeOpen === 0 ? [] : [`open severe mismatches up to the end of the month: ${severeOpen}`]),
    ...(action === 'reopened' || severeElsewhere.length === 0 ? [] : [warningOf(severeElsewhere)]),
    '',
  ].join('\n')
}

function warningOf(severe: PeriodChangeResult['severeElsewhere']): string {
  const kinds = severe.map(({ kind, count }) => `${kind} ${count}`).join(', ')
  return `WARNING: later severe mismatches are open: ${kinds}; see "bin/depositd mismatches list --severity severe"`
}

const paging: ListKeyset<PeriodLine> = { list: 'periods', keyOf: ({ period }) => [period] }
const historyPaging: ListKeyset<PeriodHistoryLine> = {
  list: 'period history',
  keyOf: ({ id }) => [id.toString()],
}

export async function periodsCommand(
  context: Context,
  { history, ...options }: ListOptions & { history?: boolean },
): Promise<void> {
  if (history === true) {
    const page = await withDatabase(context, (db) =>
      readPage(options, historyPaging, ({ limit, after }) =>
        listPeriodHistory(db, { limit, before: idIn(after) ?? null }),
      ),
    )
    printList(context, page, { columns: historyColumns, empty: 'no month was closed yet' })
  } else {
    const page = await withDatabase(context, (db) =>
      readPage(options, paging, ({ limit, after }) => listPeriods(db, { limit, before: after?.[0] ?? null })),
    )
    printList(context, page, { columns: periodColumns, empty: 'nothing is booked yet' })
  }
}

const historyColumns: TableColumn<PeriodHistoryLine>[] = [
  { title: 'AT', value: ({ at }) => at.toISOString() },
  { title: 'MONTH', value: ({ period }) => period },
  { title: 'WHAT', value: ({ action, forced }) => `${action}${forced ? ', forced' : ''}` },
  { title: 'BY', value: ({ actor, approved_by }) => namesOf(actor, approved_by) },
  { title: 'WHY', value: ({ reason }) => reason ?? '' },
]

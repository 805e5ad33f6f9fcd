import type { PeriodDecision } from '../../jobs/people/procedures.ts'
import { type Period, parsePeriod } from '../../ledger/period.ts'
import { namesOf, periodColumns } from '../../presentation/ledger.ts'
import {
  listPeriodHistory,
  listPeriods,
  type PeriodChange,
  type PeriodHistoryLine,
  type PeriodLine,
} from '../../store/ledger/periods.ts'
import { type Context, withDatabase } from '../context.ts'
import { idIn, type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import { textOf, wrongUse } from '../options.ts'
import { decideCommand } from '../people/decide.ts'
import type { TableColumn } from '../print.ts'

type PeriodOptions = { breakGlass?: string; reason?: string }

export async function closeCommand(
  context: Context,
  month: string,
  { soft, force, ...options }: PeriodOptions & { soft?: boolean; force?: boolean },
): Promise<void> {
  if (force === true && options.reason === undefined)
    throw wrongUse('--force requires a reason', 'give --reason')
  const action = soft === true ? 'soft_closed' : 'closed'
  await changeMonth(context, { month, action, forced: force === true }, options)
}

export async function reopenCommand(context: Context, month: string, options: PeriodOptions): Promise<void> {
  await changeMonth(context, { month, action: 'reopened', forced: false }, options)
}

type PeriodChangeRequest = Pick<PeriodChange, 'action' | 'forced'> & { month: string }

async function changeMonth(
  context: Context,
  { month, ...request }: PeriodChangeRequest,
  { breakGlass, reason }: PeriodOptions,
): Promise<void> {
  const change: PeriodDecision = {
    ...request,
    period: periodOf(month),
    reason: reason === undefined ? null : textOf('--reason', reason),
  }
  const kind = request.action === 'reopened' ? 'reopen' : 'close'
  await decideCommand(context, { kind, change }, breakGlass)
}

/** @throws Fault `usage_bad` */
function periodOf(text: string): Period {
  const period = parsePeriod(text)
  if (period !== null) return period
  throw wrongUse(`${JSON.stringify(text)} is not a month`, 'use the form 2026-01')
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
  { title: 'DECISION', value: ({ decision_id: id }) => `${id ?? 'not signed'}` },
  { title: 'WHY', value: ({ reason }) => reason ?? '' },
]

import { Fault } from '../core/errors.ts'
import { type Severity } from '../core/mismatch.ts'
import { listMismatches, type MismatchFilter, type MismatchLine } from '../store/reports.ts'
import { mismatchColumns } from '../telling/told-mismatch.ts'
import { type Context, withDatabase } from './context.ts'
import { limitOf, parseSpan, wordOf } from './options.ts'
import { type News, printRows } from './print.ts'

type ListOptions = {
  kind?: string
  severity?: string
  assigned?: string
  olderThan?: string
  overdue?: boolean
  snoozed?: boolean
  all?: boolean
  failOn?: string
  limit: string
  json?: boolean
}

const severities: readonly Severity[] = ['info', 'warning', 'severe']

/** Bad news is what is listed, not ended, and as grave as `--fail-on` says. */
export async function listMismatchesCommand(context: Context, options: ListOptions): Promise<News> {
  const failOn = options.failOn === undefined ? null : wordOf('fail-on', options.failOn, severities)
  const filter = filterOf(options)
  const rows = await withDatabase(context, (db) => listMismatches(db, filter))
  printMismatches(context, rows, options)
  const isBad = failOn !== null && rows.some((row) => isHeldOpen(row) && isAsGrave(row, failOn))
  return isBad ? 'bad' : 'good'
}

export function printMismatches(
  context: Context,
  rows: readonly MismatchLine[],
  { json }: { json?: boolean },
): void {
  printRows(context, rows, { columns: mismatchColumns, json: json === true, empty: 'no mismatches' })
}

function filterOf(options: ListOptions): MismatchFilter {
  const { kind, severity, assigned, olderThan, overdue, snoozed, all, limit } = options
  return {
    kind,
    severity: severity === undefined ? undefined : wordOf('severity', severity, severities),
    assigned,
    olderThanSeconds: olderThan === undefined ? 0 : secondsOf(olderThan),
    isOverdue: overdue === true,
    also: all === true ? 'all' : snoozed === true ? 'snoozed' : 'nothing',
    limit: limitOf(limit),
  }
}

function secondsOf(text: string): number {
  const span = parseSpan(text)
  if (span !== null) return span / 1000
  throw new Fault('usage_bad', {
    problem: `--older-than is ${JSON.stringify(text)}`,
    mend: 'give how long, like 30m, 24h or 7d',
  })
}

function isHeldOpen({ status }: MismatchLine): boolean {
  return status === 'open' || status === 'snoozed'
}

function isAsGrave({ severity }: MismatchLine, failOn: Severity): boolean {
  return severities.findIndex((one) => one === severity) >= severities.indexOf(failOn)
}

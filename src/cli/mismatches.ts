import type { Severity } from '../core/mismatch.ts'
import { listMismatches, type MismatchLine } from '../store/reports.ts'
import { type Context, withDatabase } from './context.ts'
import { limitOf, wordOf } from './options.ts'
import { type Column, type News, printRows } from './print.ts'

type ListOptions = { kind?: string; all?: boolean; failOn?: string; limit: string; json?: boolean }

const severities: readonly Severity[] = ['info', 'warning', 'severe']

export async function listMismatchesCommand(context: Context, options: ListOptions): Promise<News> {
  const failOn = options.failOn === undefined ? null : wordOf('fail-on', options.failOn, severities)
  const filter = { kind: options.kind, all: options.all === true, limit: limitOf(options.limit) }
  const rows = await withDatabase(context, (db) => listMismatches(db, filter))
  printRows(context, rows, { columns, json: options.json === true, empty: 'no mismatches' })
  const isBad = failOn !== null && rows.some((row) => row.cleared_at === null && isAsGrave(row, failOn))
  return isBad ? 'bad' : 'good'
}

const columns: Column<MismatchLine>[] = [
  { title: 'ID', of: ({ id }) => id, align: 'right' },
  { title: 'SEVERITY', of: ({ severity }) => severity },
  { title: 'KIND', of: ({ kind }) => kind },
  { title: 'ABOUT', of: ({ subject }) => subject },
  { title: 'AGE', of: ({ age }) => age },
  { title: 'AMOUNT', of: ({ amount }) => amount, align: 'right' },
  { title: 'ASSET', of: ({ asset, network }) => (asset === '' ? '' : `${asset} on ${network}`) },
  {
    title: 'DETAIL',
    of: ({ detail }) =>
      Object.entries(detail)
        .map(([name, value]) => `${name} ${value}`)
        .join(', '),
  },
]

function isAsGrave({ severity }: MismatchLine, failOn: Severity): boolean {
  return severities.findIndex((one) => one === severity) >= severities.indexOf(failOn)
}

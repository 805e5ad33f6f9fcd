import { type JournalKind, type JournalLine, listJournals } from '../store/ledger/list-journals.ts'
import { nameOf } from './case-options.ts'
import { type Context, withDatabase } from './context.ts'
import { monthOption } from './moments.ts'
import { limitOf, wordOf } from './options.ts'
import { type Column, printRows } from './print.ts'

type Options = { period?: string; kind?: string; by?: string; limit: string; json?: boolean }

const kinds: readonly JournalKind[] = [
  'deposit',
  'settlement',
  'refund',
  'write_off',
  'withdrawal',
  'manual',
  'reversal',
]

/** Prints journals, the newest first. */
export async function listJournalsCommand(context: Context, options: Options): Promise<void> {
  const limit = limitOf(options.limit)
  const filter = {
    period: options.period === undefined ? null : monthOption(options.period),
    kind: options.kind === undefined ? null : wordOf('kind', options.kind, kinds),
    by: options.by === undefined ? null : nameOf('--by', options.by),
  }
  const rows = await withDatabase(context, (db) => listJournals(db, filter, limit))
  printRows(context, rows, { columns, json: options.json === true, empty: 'there is no such journal' })
}

const columns: Column<JournalLine>[] = [
  { title: 'JOURNAL', of: ({ id }) => id.toString(), align: 'right' },
  { title: 'WHAT', of: ({ kind }) => kind },
  { title: 'HAPPENED', of: ({ event_at: at }) => at.toISOString() },
  { title: 'BOOKS OF', of: ({ period, belongs_to: month }) => `${period}${period === month ? '' : ' late'}` },
  { title: 'DEPOSIT', of: ({ deposit_id: id }) => id?.toString() ?? '', align: 'right' },
  { title: 'REVERSES', of: ({ reverses }) => reverses?.toString() ?? '', align: 'right' },
  { title: 'REVERSED BY', of: ({ reversed_by: id }) => id?.toString() ?? '', align: 'right' },
  { title: 'BY', of: ({ made_by: by, approved_by: second }) => (by === null ? '' : `${by}, ${second}`) },
  { title: 'WHY', of: ({ reason }) => reason ?? '' },
]

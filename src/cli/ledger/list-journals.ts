import { type JournalLine, type LedgerJournalKind, listJournals } from '../../store/ledger/list-journals.ts'
import { type Context, withDatabase } from '../context.ts'
import { idIn, type ListKeyset, type ListOptions, printList, readPage } from '../lists.ts'
import { nameOf } from '../mismatches/case-options.ts'
import { monthOption } from '../moments.ts'
import type { TableColumn } from '../print.ts'

type ListJournalsOptions = ListOptions & { period?: string; kind?: LedgerJournalKind; by?: string }

const paging: ListKeyset<JournalLine> = { list: 'journals', keyOf: ({ id }) => [id.toString()] }

/** Prints journals, the newest first. */
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
  printList(context, page, { columns, json: options.json, empty: 'no journals' })
}

const columns: TableColumn<JournalLine>[] = [
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

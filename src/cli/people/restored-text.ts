import type { BooksRestoration } from '../../jobs/books/restore-books.ts'
import type { BooksVerificationProgress } from '../../jobs/books/verify-books.ts'
import type { RestoredJournal } from '../../store/books/restore.ts'
import { type TableColumn, table } from '../print.ts'

export function restoredText({ resumed, written, journals, ...counts }: BooksRestoration): string {
  const what = resumed ? 'an interrupted restore was continued' : 'restored'
  const read = `${counts.rows} observations read, ${counts.corrected} corrected; ${counts.groups} groups decided`
  const more = written - journals.length
  return [
    `${what}: ${read}; journals: ${written}\n`,
    ...(journals.length === 0 ? [] : [table(journals, journalColumns)]),
    ...(more > 0 ? [`and ${more} more; "bin/depositd ledger journal list --by NAME" lists all\n`] : []),
  ].join('')
}

const journalColumns: TableColumn<RestoredJournal>[] = [
  { title: 'JOURNAL', value: ({ id }) => id.toString(), align: 'right' },
  { title: 'KEY', value: ({ key }) => key },
  { title: 'HAPPENED', value: ({ eventAt }) => eventAt.toISOString() },
  { title: 'BOOKS OF', value: ({ period }) => period },
  { title: 'DEPOSIT', value: ({ depositId }) => depositId?.toString() ?? '', align: 'right' },
]

export function progressLine({ stage, done, of }: BooksVerificationProgress): string {
  return stage === 'read' ? `observations read: ${done} of ${of}` : `groups decided: ${done} of ${of}`
}

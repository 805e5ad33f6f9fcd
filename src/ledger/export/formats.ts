import { formatAmount } from '../../core/money.ts'
import {
  dayOf,
  type ExportedJournal,
  type ExportedTransfer,
  type ExportFormat,
  monthOf,
} from './exported-journal.ts'
import { beancount, hledger } from './plain-text.ts'

/** Quoted by RFC 4180, ends with a line feed. */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\n`
}

/**
 * A spreadsheet runs a cell that begins like a formula, even after blanks. A leading apostrophe makes it text; a cell
 * that begins with one gets another, so that removing the first restores the text. Negative numbers are left unchanged.
 */
function csvCell(text: string): string {
  const isNegative = /^-\d+(\.\d+)?$/.test(text)
  const safe = !isNegative && /^[\s\p{C}'=+\-@\uff1d\uff0b\uff0d\uff20]/u.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

export const formatNames = ['csv', 'jsonl', 'hledger', 'beancount', 'journal-csv'] as const
export type ExportFormatName = (typeof formatNames)[number]

export function formatOf(name: ExportFormatName, chart: Chart): ExportFormat {
  const formats: Record<ExportFormatName, ExportFormat> = {
    csv: entriesCsv,
    jsonl: journalsJsonl,
    hledger,
    beancount,
    'journal-csv': journalCsv(chart),
  }
  return formats[name]
}

/** One JSON document per line. Long numbers are strings, so that no reader rounds them. */
const journalsJsonl: ExportFormat = {
  file: 'journals.jsonl',
  head: '',
  journal: (journal) =>
    `${JSON.stringify({
      journal_id: journal.id.toString(),
      posting_key: journal.postingKey,
      kind: journal.kind,
      deposit_id: journal.depositId?.toString() ?? null,
      reverses: journal.reverses?.toString() ?? null,
      event_at: journal.eventAt,
      recorded_at: journal.recordedAt,
      period: journal.period,
      belongs_to: monthOf(journal),
      reason: journal.reason,
      transfers: journal.transfers.map(transferOf),
    })}\n`,
  tail: () => '',
}

function transferOf({ leg, debit, credit, asset, amount }: ExportedTransfer) {
  return {
    leg,
    debit,
    credit,
    asset: asset.key,
    asset_symbol: asset.symbol,
    amount: formatAmount(amount, asset.decimals),
    amount_base: amount.toString(),
  }
}

/** One side of a transfer. */
type EntrySide = { leg: number; account: string; asset: ExportedTransfer['asset']; amount: bigint }

const entryColumns: Record<string, (journal: ExportedJournal, side: EntrySide) => string> = {
  journal_id: ({ id }) => `${id}`,
  leg: (_journal, { leg }) => `${leg}`,
  posting_key: ({ postingKey }) => postingKey,
  kind: ({ kind }) => kind,
  deposit_id: ({ depositId }) => `${depositId ?? ''}`,
  reverses: ({ reverses }) => `${reverses ?? ''}`,
  event_at: ({ eventAt }) => eventAt,
  recorded_at: ({ recordedAt }) => recordedAt,
  period: ({ period }) => period,
  belongs_to: monthOf,
  account: (_journal, { account }) => account,
  asset_symbol: (_journal, { asset }) => asset.symbol,
  asset: (_journal, { asset }) => asset.key,
  amount: (_journal, { asset, amount }) => formatAmount(amount, asset.decimals),
  amount_base: (_journal, { amount }) => `${amount}`,
  reason: ({ reason }) => reason ?? '',
}

/** One line for each side of a transfer, as in `accounting.entries`: debits positive, credits negative. */
const entriesCsv: ExportFormat = {
  file: 'entries.csv',
  head: csvLine(Object.keys(entryColumns)),
  journal: (journal) =>
    journal.transfers
      .flatMap(({ leg, debit, credit, asset, amount }): EntrySide[] => [
        { leg, account: debit, asset, amount },
        { leg, account: credit, asset, amount: -amount },
      ])
      .map((side) => csvLine(Object.values(entryColumns).map((column) => column(journal, side))))
      .join(''),
  tail: () => '',
}

type Chart = (account: string) => { code: string | null; name: string | null }

/**
 * For Xero and QuickBooks. They allow one currency per journal, so a journal with several assets becomes one for each,
 * which balances by itself. The columns are Xero's template for manual journals, then QuickBooks Online's import.
 */
function journalCsv(chart: Chart): ExportFormat {
  return {
    file: 'journal-import.csv',
    head: csvLine([
      '*Narration',
      '*Date',
      'Description',
      '*AccountCode',
      '*TaxRate',
      '*Amount',
      'JournalNo',
      'JournalDate',
      'AccountName',
      'Debits',
      'Credits',
      'Currency',
    ]),
    journal: (journal) => {
      const byAsset = [...Map.groupBy(journal.transfers, ({ asset }) => asset.key).values()]
      return byAsset
        .map((transfers, place) =>
          importLines({ ...journal, transfers }, `${journal.id}-${place + 1}`, chart),
        )
        .join('')
    },
    tail: () => '',
  }
}

function importLines(journal: ExportedJournal, number: string, chart: Chart): string {
  const [year, month, day] = bookedOn(journal).split('-')
  const lateness = monthOf(journal) === journal.period ? '' : `, belongs to ${monthOf(journal)}`
  const line = (account: string, { asset, amount }: ExportedTransfer, isDebit: boolean) => {
    const { code, name } = chart(account)
    const plain = formatAmount(amount, asset.decimals)
    return csvLine([
      `${number} ${journal.kind}`,
      `${day}/${month}/${year}`,
      `${journal.reason ?? journal.postingKey}${lateness}`,
      code ?? '',
      'Tax Exempt',
      isDebit ? plain : `-${plain}`,
      number,
      `${year}-${month}-${day}`,
      name ?? account,
      isDebit ? plain : '',
      isDebit ? '' : plain,
      asset.commodity,
    ])
  }
  return journal.transfers
    .map((transfer) => line(transfer.debit, transfer, true) + line(transfer.credit, transfer, false))
    .join('')
}

/** If the event's month was closed, the first day of the month whose books contain the journal. */
function bookedOn(journal: ExportedJournal): string {
  return monthOf(journal) === journal.period ? dayOf(journal) : `${journal.period}-01`
}

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
 * that begins with one gets another, so that removing the first restores the text. Numbers are left unchanged.
 */
function csvCell(text: string): string {
  const isNumber = /^-?\d+(\.\d+)?$/.test(text)
  const safe = !isNumber && /^[\s\p{C}'=+\-@\uff1d\uff0b\uff0d\uff20]/u.test(text) ? `'${text}` : text
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

const columns = [
  'journal_id',
  'leg',
  'posting_key',
  'kind',
  'deposit_id',
  'reverses',
  'event_at',
  'recorded_at',
  'period',
  'belongs_to',
  'account',
  'asset_symbol',
  'asset',
  'amount',
  'amount_base',
  'reason',
]

/** One line for each side of a transfer, as in `accounting.entries`: debits positive, credits negative. */
const entriesCsv: ExportFormat = {
  file: 'entries.csv',
  head: csvLine(columns),
  journal: (journal) => journal.transfers.map((transfer) => linesOf(journal, transfer)).join(''),
  tail: () => '',
}

function linesOf(journal: ExportedJournal, { leg, debit, credit, asset, amount }: ExportedTransfer): string {
  const before = [
    `${journal.id}`,
    `${leg}`,
    journal.postingKey,
    journal.kind,
    `${journal.depositId ?? ''}`,
    `${journal.reverses ?? ''}`,
    journal.eventAt,
    journal.recordedAt,
    journal.period,
    monthOf(journal),
  ]
  const side = (account: string, signed: bigint) =>
    csvLine([
      ...before,
      account,
      asset.symbol,
      asset.key,
      formatAmount(signed, asset.decimals),
      signed.toString(),
      journal.reason ?? '',
    ])
  return side(debit, amount) + side(credit, -amount)
}

type Chart = (account: string) => { code: string | null; name: string | null }

/** Xero's template for manual journals, then QuickBooks Online's import. */
const importColumns = [
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
]

/**
 * For Xero and QuickBooks. They allow one currency per journal, so a journal with several assets becomes one for each,
 * which balances by itself.
 */
function journalCsv(chart: Chart): ExportFormat {
  return {
    file: 'journal-import.csv',
    head: csvLine(importColumns),
    journal: (journal) => {
      const byAsset = [...Map.groupBy(journal.transfers, ({ asset }) => asset.key).values()]
      return byAsset.map((transfers, place) => importLines(journal, { chart, transfers, place })).join('')
    },
    tail: () => '',
  }
}

type SingleAssetJournal = { chart: Chart; transfers: readonly ExportedTransfer[]; place: number }

function importLines(journal: ExportedJournal, { chart, transfers, place }: SingleAssetJournal): string {
  const number = `${journal.id}-${place + 1}`
  const [year, month, day] = bookedOn(journal).split('-')
  const narration = `${number} ${journal.kind}`
  const lateness = monthOf(journal) === journal.period ? '' : `, belongs to ${monthOf(journal)}`
  const description = `${journal.reason ?? journal.postingKey}${lateness}`
  const side = (account: string, { asset, amount }: ExportedTransfer, isDebit: boolean) => {
    const { code, name } = chart(account)
    const plain = formatAmount(amount, asset.decimals)
    return csvLine([
      narration,
      `${day}/${month}/${year}`,
      description,
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
  return transfers
    .map((transfer) => side(transfer.debit, transfer, true) + side(transfer.credit, transfer, false))
    .join('')
}

/** If the event's month was closed, the first day of the month whose books contain the journal. */
function bookedOn(journal: ExportedJournal): string {
  return monthOf(journal) === journal.period ? dayOf(journal) : `${journal.period}-01`
}

import { formatAmount } from '../../core/money.ts'
import { hledgerAccount } from './account-name.ts'
import { beancount } from './beancount.ts'
import { csvLine } from './csv-cell.ts'
import {
  dayOf,
  type ExportContents,
  type ExportedJournal,
  type ExportedTransfer,
  type ExportFormat,
  monthOf,
  oneLine,
} from './exported-journal.ts'
import { type Chart, journalCsv } from './journal-csv.ts'

/** A journal that "hledger check --strict" accepts. Declarations come at its end, when all of them are known. */
const hledger: ExportFormat = {
  file: 'books.journal',
  head: 'decimal-mark .\n\n',
  journal: (journal) =>
    [
      `${dayOf(journal)} (${journal.id}) ${journal.kind}`,
      ...tagsOf(journal).map((tag) => `    ; ${tag}`),
      ...journal.transfers.flatMap(postingsOf),
      '\n',
    ].join('\n'),
  tail: declarations,
}

function tagsOf(journal: ExportedJournal): string[] {
  return [
    `posting-key:${plain(journal.postingKey)}`,
    `event-at:${journal.eventAt}`,
    `recorded-at:${journal.recordedAt}`,
    `period:${journal.period}`,
    ...(journal.depositId === null ? [] : [`deposit:${journal.depositId}`]),
    ...(journal.reverses === null ? [] : [`reverses:${journal.reverses}`]),
    ...(journal.reason === null ? [] : [`reason:${plain(journal.reason)}`]),
  ]
}

function postingsOf({ debit, credit, asset, amount }: ExportedTransfer): string[] {
  const posting = (account: string, signed: bigint) =>
    `    ${hledgerAccount(account)}  ${formatAmount(signed, asset.decimals)} "${asset.commodity}"`
  return [posting(debit, amount), posting(credit, -amount)]
}

function declarations({ accounts, assets }: ExportContents): string {
  const commodities = assets.map(({ asset: { commodity, decimals, key, symbol } }) => {
    const places = decimals === 0 ? '1000.' : `1000.${'0'.repeat(decimals)}`
    return `; ${plain(symbol)}, ${plain(key)}\ncommodity ${places} "${commodity}"\n`
  })
  const named = accounts.map((account) => {
    const name = hledgerAccount(account)
    return name === account ? `account ${name}\n` : `account ${name}  ; account:${plain(account)}\n`
  })
  return [...commodities, ...named].join('')
}

/**
 * hledger decodes a file by the locale of its user, so characters outside ASCII are escaped as in JSON. A comma is
 * escaped too, because it would end a tag.
 */
function plain(text: string): string {
  return oneLine(text).replaceAll(
    /[^ -~]|,/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
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

/** One JSON document per line for each journal. Numbers that may be long are strings, so that no reader rounds them. */
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

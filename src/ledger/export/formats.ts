import { Fault } from '../../core/errors.ts'
import { formatAmount } from '../../core/money.ts'
import { notValued } from '../../core/value.ts'
import type { CostBasis } from '../lots.ts'
import { csvLine } from './csv.ts'
import {
  type ExportedJournal,
  type ExportedTransfer,
  type ExportFormat,
  monthOf,
} from './exported-journal.ts'
import { type Chart, importFormat, importPrograms } from './journal-import.ts'
import { beancount, hledger } from './plain-text.ts'
import { valuedBeancount } from './valued-beancount.ts'
import { valuedHledger } from './valued-text.ts'

/** One JSON document per line. Long numbers are strings, so that no reader rounds them. */
const journalsJsonl: ExportFormat = {
  file: 'journals.jsonl',
  head: '',
  journal: (journal) => [
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
  ],
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
      .map((side) => csvLine(Object.values(entryColumns).map((column) => column(journal, side)))),
  tail: () => '',
}

const plainFormats = { csv: entriesCsv, jsonl: journalsJsonl, hledger, beancount }

export const formatNames = ['csv', 'jsonl', 'hledger', 'beancount', 'xero', 'quickbooks'] as const
export type ExportFormatName = (typeof formatNames)[number]

export type FormatSettings = {
  chart: Chart
  /** Of the settings. */
  currency: string | null
  /** Plain-text accounting with the values and gains of the books. */
  isValued?: boolean
  /** By which all of the books are valued; null if the export has only a part of them, or there were several. */
  basis?: CostBasis | null
}

/** @throws Fault `usage_bad` if the format is in a currency and there is none, or has no values */
export function formatOf(
  name: ExportFormatName,
  { chart, currency, isValued = false, basis }: FormatSettings,
): ExportFormat {
  const isImport = name === 'xero' || name === 'quickbooks'
  if (!isImport && !isValued) return plainFormats[name]
  if (currency === null) throw notValued(isImport ? `--format ${name}` : '--valued')
  if (isImport) return importFormat(importPrograms[name], currency, chart)
  if (name === 'hledger') return valuedHledger(currency)
  if (name === 'beancount') return valuedBeancount(currency, basis)
  const problem = `--valued: the format ${name} has no values`
  throw new Fault('usage_bad', { problem, fix: 'use --format hledger or beancount, or omit --valued' })
}

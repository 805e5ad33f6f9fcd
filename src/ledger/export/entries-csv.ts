import { formatAmount } from '../../core/money.ts'
import { csvLine } from './csv-cell.ts'
import {
  type ExportedJournal,
  type ExportedTransfer,
  type ExportFormat,
  monthOf,
} from './exported-journal.ts'

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

/** A line for each side of a transfer, as `accounting.entries` has them: debits positive, credits negative. */
export const entriesCsv: ExportFormat = {
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

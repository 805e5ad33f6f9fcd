import { formatAmount } from '../../core/money.ts'
import { type ExportedTransfer, type ExportFormat, monthOf } from './exported-journal.ts'

/** A JSON document a line, for each journal. Numbers that may be long are strings, so that no reader rounds them. */
export const journalsJsonl: ExportFormat = {
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

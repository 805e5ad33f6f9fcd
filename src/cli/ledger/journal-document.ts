import { formatAmount } from '../../core/money.ts'
import type { LedgerTransfer } from '../../core/posting.ts'
import type { JournalPreview } from '../../jobs/books/book-by-hand.ts'
import type { AssetNames } from '../../store/assets.ts'
import type { BookedJournal } from '../../store/ledger/manual-journals.ts'

/** A journal as `--json` prints it: with the names of the accounting views and months like 2026-01. */
export function journalDocument(journal: BookedJournal | JournalPreview, assets: AssetNames): object {
  const { key, eventAt, period } = journal
  return {
    ...('id' in journal ? { id: journal.id, kind: journal.kind } : {}),
    posting_key: key,
    event_at: eventAt,
    period: period.slice(0, 7),
    belongs_to: eventAt.toISOString().slice(0, 7),
    ...('id' in journal ? bookedPart(journal) : {}),
    transfers: journal.transfers.map((transfer) => transferDocument(transfer, assets)),
  }
}

function bookedPart({ recordedAt, depositId, reverses, reversedBy, byHand }: BookedJournal): object {
  return {
    recorded_at: recordedAt,
    deposit_id: depositId,
    reverses,
    reversed_by: reversedBy,
    reason: byHand?.reason ?? null,
    made_by: byHand?.by ?? null,
    approved_by: byHand?.approvedBy ?? null,
  }
}

export function transferDocument({ debit, credit, asset, amount }: LedgerTransfer, assets: AssetNames) {
  const { symbol, network, decimals } = assets.get(asset) ?? { symbol: '', network: '', decimals: 0 }
  return {
    debit,
    credit,
    asset_symbol: symbol,
    asset,
    network,
    amount: formatAmount(amount, decimals),
    amount_base: amount,
  }
}

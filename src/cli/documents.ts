import { causeKeyOf } from '../core/cause.ts'
import type { LegFacts } from '../core/decide.ts'
import type { DepositVerdict } from '../core/judging/reconcile.ts'
import type { Mismatch } from '../core/mismatch.ts'
import type { JournalPreview } from '../jobs/books/book-by-hand.ts'
import { transferDocument } from '../presentation/journal.ts'
import {
  type AmountAsset,
  type AssetLabels,
  amountFields,
  amountsOfDetail,
  documentAmount,
  mismatchSentence,
  type StatedMismatch,
} from '../presentation/mismatch-sentence.ts'
import type { AssetNames } from '../store/assets.ts'
import type { BookedJournal } from '../store/ledger/journals.ts'
import type { ShownMismatch } from '../store/mismatches/show-mismatches.ts'

type MismatchOfCause = StatedMismatch & { service: string | null; network?: unknown }

/** The stored detail, a sentence about it, and its amounts in units and in base units. */
export function mismatchDocument<Row extends StatedMismatch>(row: Row) {
  return { ...row, says: mismatchSentence(row), amounts: amountsOfDetail(row) }
}

/** With the cause that the mismatch shares with others. */
export function causedDocument<Row extends MismatchOfCause>(row: Row) {
  const network = typeof row.network === 'string' ? row.network : ''
  return {
    ...mismatchDocument(row),
    cause: causeKeyOf({ kind: row.kind, service: row.service ?? '', network }),
  }
}

type MismatchHistoryLine = ShownMismatch['history'][number]

/** Amounts in the form of the mismatch itself. */
export function historyDocument(line: MismatchHistoryLine, mismatch: ShownMismatch['mismatch']): object {
  const stood = (state: MismatchHistoryLine['before']) =>
    state === null ? null : standingDocument(state, mismatch)
  return { ...line, before: stood(line.before), after: stood(line.after) }
}

/** Amounts in base units, in the asset of the mismatch and in that of the loss. */
type StoredMismatchState = {
  detail?: Readonly<Record<string, string>>
  value: string | null
  loss: string | null
  loss_asset: string | null
}

/** Changes by people have no amounts; changes of evidence affect the detail, the value and the loss. */
function standingDocument(
  state: NonNullable<MismatchHistoryLine['before']>,
  { kind, asset, assets }: ShownMismatch['mismatch'],
): object {
  const { detail, value, loss, loss_asset: lossAsset, ...rest } = state as StoredMismatchState
  if (detail === undefined) return state
  const said = { kind, detail, loss_asset: lossAsset, assets }
  return {
    ...rest,
    detail,
    says: mismatchSentence(said),
    amounts: amountsOfDetail(said),
    ...(value === null || asset === null ? {} : documentAmount(asset, BigInt(value), assets)),
    ...amountFields('loss', loss === null ? null : BigInt(loss), { asset: lossAsset, assets }),
  }
}

/** With the names of the accounting views and months like 2026-01. */
export function journalDocument(journal: BookedJournal | JournalPreview, assets: AssetNames) {
  const { key, eventAt, period, depositId } = journal
  return {
    ...('id' in journal ? bookedPart(journal) : {}),
    postingKey: key,
    depositId,
    eventAt,
    period: period.slice(0, 7),
    belongsTo: eventAt.toISOString().slice(0, 7),
    transfers: journal.transfers.map((transfer) => transferDocument(transfer, assets)),
  }
}

function bookedPart({ id, kind, recordedAt, reverses, reversedBy, byHand }: BookedJournal) {
  const { reason = null, by: madeBy = null, approvedBy = null } = byHand ?? {}
  return { id, kind, recordedAt, reverses, reversedBy, reason, madeBy, approvedBy }
}

/** Every amount in units of its asset and in base units. */
export function verdictDocument(
  { fee, shortfall, shortage, mismatches, ...verdict }: DepositVerdict,
  { asset, assets }: AmountAsset,
): object {
  return {
    ...verdict,
    ...amountFields('fee', fee, { asset, assets }),
    ...amountFields('shortfall', shortfall, { asset, assets }),
    shortage: shortage && {
      dueAt: shortage.dueAt,
      ...documentAmount(shortage.asset, shortage.amount, assets),
    },
    mismatches: mismatches.map((one) => judgedDocument(one, assets)),
  }
}

export function legDocument(leg: LegFacts | null, assets: AssetLabels): object | null {
  if (leg === null) return null
  const { network, address, tx, asset, amount, fee = null } = leg
  const reported = documentAmount(asset, amount ?? 0n, assets)
  return {
    network,
    address,
    tx,
    ...(amount === null ? { ...reported, amount, amount_base: amount } : reported),
    ...amountFields('fee', fee, { asset, assets }),
  }
}

function judgedDocument({ kind, detail, loss }: Mismatch, assets: AssetLabels): object {
  const asset = loss?.asset ?? null
  const said = { kind, detail, loss_asset: asset, assets }
  return {
    kind,
    detail,
    says: mismatchSentence(said),
    amounts: amountsOfDetail(said),
    ...amountFields('loss', loss?.amount ?? null, { asset, assets }),
    ...amountFields('loss_of', loss?.whole ?? null, { asset, assets }),
  }
}

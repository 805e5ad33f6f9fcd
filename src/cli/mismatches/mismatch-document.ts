import { causeKeyOf } from '../../core/cause.ts'
import {
  amountNamed,
  amountsOfDetail,
  mismatchSentence,
  reportedAmount,
  type SaidMismatch,
} from '../../presentation/mismatch-words.ts'
import type { ShownMismatch } from '../../store/mismatches/show-mismatch.ts'

type MismatchWithNetwork = SaidMismatch & { network?: unknown }

/**
 * A mismatch as `--json` prints it: the stored detail, a sentence about it, and the amounts of the detail in units and
 * in base units.
 */
export function mismatchDocument<Row extends SaidMismatch>(row: Row) {
  return { ...row, says: mismatchSentence(row), amounts: amountsOfDetail(row) }
}

/** Adds to `mismatchDocument` the cause that the mismatch shares with others. */
export function causedDocument<Row extends MismatchWithNetwork>(row: Row) {
  const network = typeof row.network === 'string' ? row.network : ''
  return { ...mismatchDocument(row), cause: causeKeyOf({ kind: row.kind, network }) }
}

type MismatchHistoryLine = ShownMismatch['history'][number]

/** A line of the mismatch's history, with amounts in the form of the mismatch itself. */
export function historyDocument(line: MismatchHistoryLine, mismatch: ShownMismatch['mismatch']): object {
  const stood = (state: MismatchHistoryLine['before']) =>
    state === null ? null : standingDocument(state, mismatch)
  return { ...line, before: stood(line.before), after: stood(line.after) }
}

/** As stored: amounts in base units, in the asset of the mismatch and in that of the loss. */
type StoredMismatchState = {
  detail?: Readonly<Record<string, string>>
  value: string | null
  loss: string | null
  loss_asset: string | null
}

/** Changes by people have no amounts. Changes of evidence affect the detail, the value and the loss. */
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
    ...(value === null || asset === null ? {} : reportedAmount(asset, BigInt(value), assets)),
    ...amountNamed('loss', loss === null ? null : BigInt(loss), { asset: lossAsset, assets }),
  }
}

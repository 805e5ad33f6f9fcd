import { type Address, assetCode, type TxId } from '../../core/asset.ts'
import { toAmount } from '../../core/money.ts'
import { ascending } from '../heights.ts'
import type { BalanceMovement, BlockMark, FinalityStage, HeightRange, StagedTransfer } from '../types.ts'
import type { BalanceChange } from './balance-changes.ts'
import type { Unread } from './blocks.ts'
import type { SlotBlock, SolanaScan, SolanaWatch } from './node.ts'

export type Findings = { transfers: readonly StagedTransfer[]; movements: readonly BalanceMovement[] }

/** Final by default. */
export type TransactionChanges = {
  tx: TxId
  slot: bigint
  block: SlotBlock
  changes: readonly BalanceChange[]
  memo: string | null
  stage?: FinalityStage
}

export const nothingFound: Findings = { transfers: [], movements: [] }

export function findingsOf({ network, owners }: SolanaWatch, included: TransactionChanges): Findings {
  const { tx, slot, block, changes, memo, stage = 'final' } = included
  const watched = changes.filter(({ owner }) => owners.has(owner))
  const common = ({ asset, owner }: BalanceChange) => ({
    network,
    tx,
    index: `${assetCode(asset)}:${owner}`,
    asset,
    height: slot,
    blockHash: block.hash,
  })
  return {
    transfers: watched
      .filter(({ paid }) => paid > 0n)
      .map((change) => ({
        stage,
        ...common(change),
        ...payerOf(changes, change),
        to: change.owner,
        amount: toAmount(change.paid),
        ...(memo === null ? {} : { memo }),
        blockAt: block.at,
      })),
    movements: watched
      .map((change) => ({ change, rest: change.paid > 0n ? change.held - change.paid : change.held }))
      .filter(({ rest }) => rest !== 0n)
      .map(({ change, rest }) => ({
        ...common(change),
        address: change.owner,
        change: rest,
        recipients: recipientsOf(changes, change),
      })),
  }
}

export function joinFindings(parts: readonly Findings[]): Findings {
  return {
    transfers: parts.flatMap(({ transfers }) => transfers),
    movements: parts.flatMap(({ movements }) => movements),
  }
}

/**
 * `from` is null unless there is one payer; tokens may be minted. `sent` is set if it exceeds the amount received, as
 * with a transfer fee.
 */
function payerOf(
  changes: readonly BalanceChange[],
  { asset, paid }: BalanceChange,
): Pick<StagedTransfer, 'from' | 'sent'> {
  const ofAsset = changes.filter((change) => change.asset === asset)
  const [payer, another] = ofAsset.filter((change) => change.paid < 0n)
  if (payer === undefined || another !== undefined) return { from: null }
  const receivers = ofAsset.filter((change) => change.paid > 0n)
  const isMore = receivers.length === 1 && -payer.paid > paid
  return { from: payer.owner, ...(isMore ? { sent: toAmount(-payer.paid) } : {}) }
}

/** Of what an owner paid: rent is paid to the owner of the token account. */
function recipientsOf(changes: readonly BalanceChange[], { asset, owner, paid }: BalanceChange): Address[] {
  if (paid >= 0n) return []
  const received = changes.filter((change) => change.asset === asset && change.paid > 0n)
  return [...new Set(received.map((change) => change.holder ?? change.owner))].filter((one) => one !== owner)
}

export type SlotRange = HeightRange & {
  below: BlockMark | null
  /** By owner: slots below `from` that are listed again. */
  overlap: bigint
}

export type SlotRangeReading = Findings & {
  /** Their slots are not proved. */
  unread: readonly UnreadTransaction[]
  reached: bigint
}

/** `tx` is null if only its block is known. */
export type UnreadTransaction = { slot: bigint; tx: string | null; reason: Unread }

/** Skips those below the range, which were reported before. */
export function reportUnread({ node, watch }: SolanaScan, from: bigint, { unread }: SlotRangeReading): void {
  for (const one of unread) if (one.slot >= from) node.observeUnread({ network: watch.network, ...one })
}

export function provedRanges(from: bigint, { unread, reached }: SlotRangeReading): HeightRange[] {
  const holes = [...new Set(unread.map(({ slot }) => slot))]
    .filter((slot) => slot >= from)
    .toSorted(ascending)
  const starts = [from, ...holes.map((slot) => slot + 1n)]
  const ends = [...holes.map((slot) => slot - 1n), reached]
  return starts
    .map((start, place) => ({ from: start, to: ends[place] ?? reached }))
    .filter((range) => range.from <= range.to)
}

import { toAmount } from '../../core/money.ts'
import type { BlockMark, ChainTransfer, Movement, Stage, StagedTransfer } from '../port.ts'
import { type Blocks, readBlocks } from './blocks.ts'
import { readLogs } from './logs.ts'
import { readNative, withoutPayments } from './native.ts'
import { refusal } from './node.ts'
import { refuseOmissions } from './omission.ts'
import type { TransferLog } from './transfer-log.ts'
import type { EvmScan } from './watch.ts'

/** A stretch of blocks to be read at one stage; `previous` is the block below it, where its hash is known. */
export type Track = { stage: Stage; from: bigint; to: bigint; previous: BlockMark | null }

export type TrackResult = {
  transfers: readonly StagedTransfer[]
  movements: readonly Movement[]
  last: BlockMark
}

/** Reads a stretch. The blocks are read after the logs, so that a log of a block that was replaced shows. */
export async function readTrack(scan: EvmScan, track: Track): Promise<TrackResult> {
  const logs = await readLogs(scan, track)
  const blocks = await readBlocks(
    scan,
    track,
    logs.map((log) => log.height),
  )
  const payments = [...blocks.values()].flatMap((block) => block.payments)
  const tokens = withoutPayments(scan, logs, payments).map((log) => tokenTransfer(scan, blocks, log))
  if (track.stage === 'final') await refuseOmissions(scan, blocks, logs)
  const coins = await readNative(scan, blocks, track.stage)
  return {
    transfers: [...tokens, ...coins.transfers].map((transfer) => ({ ...transfer, stage: track.stage })),
    movements: coins.movements,
    last: { height: track.to, hash: blocks.get(track.to)?.hash ?? '' },
  }
}

export function tokenTransfer({ node, watch }: EvmScan, blocks: Blocks, log: TransferLog): ChainTransfer {
  const block = blocks.get(log.height)
  if (block === undefined || block.hash !== log.blockHash) {
    throw refusal(
      node,
      `log ${log.logIndex} of ${log.tx}`,
      `its block ${log.blockHash} is not the one at ${log.height}`,
    )
  }
  return {
    network: watch.network,
    tx: log.tx,
    index: log.logIndex.toString(),
    asset: log.asset,
    from: log.from,
    to: log.to,
    amount: toAmount(log.value),
    height: log.height,
    blockHash: block.hash,
    blockAt: block.at,
  }
}

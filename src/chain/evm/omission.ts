import { numberToHex } from 'viem'
import type { Address } from '../../core/asset.ts'
import { mapBounded } from '../map-bounded.ts'
import type { Block, Blocks } from './blocks.ts'
import { type BloomBits, bloomBits, bloomMayHold, parseBloom } from './bloom.ts'
import { ask, refusal } from './node.ts'
import { emittersOf, parseTransfer, type TransferLog, topicOf, transferTopic } from './transfer-log.ts'
import type { EvmScan, EvmWatch } from './watch.ts'

/**
 * Refuses a log answer that left something out. Where a block's log filter may hold a watched transfer that was
 * not among the logs, the block's receipts decide; they come from another index of the node than its logs do.
 * @throws Fault `remote_failed` where the receipts hold a transfer that the logs lacked
 */
export async function refuseOmissions(
  scan: EvmScan,
  blocks: Blocks,
  logs: readonly TransferLog[],
): Promise<void> {
  const known = Map.groupBy(logs, ({ height }) => height)
  const mayHold = filterProbe(scan.watch)
  const suspects = [...blocks.values()].filter((block) => mayHold(block, known.get(block.height) ?? []))
  await mapBounded(suspects, scan.bounds.requestsAtOnce, (block) =>
    compareReceipts(scan, block, known.get(block.height) ?? []),
  )
}

type Probe = (block: Block, known: readonly TransferLog[]) => boolean

/** Tells whether a block's filter may hold a transfer to someone to whom none is known. */
function filterProbe(watch: EvmWatch): Probe {
  const event = bloomBits(transferTopic)
  const emitters = emittersOf(watch).map((contract) => bloomBits(`0x${contract.slice(2)}`))
  const topics = new Map<Address, BloomBits>()
  for (const recipient of emitters.length > 0 ? watch.recipients : [])
    topics.set(recipient, bloomBits(topicOf(recipient)))
  return (block, known) => {
    const bloom = parseBloom(block.bloom)
    if (!bloomMayHold(bloom, event) || !emitters.some((bits) => bloomMayHold(bloom, bits))) return false
    const paid = new Set(known.map(({ to }) => to))
    return topics.entries().some(([recipient, bits]) => !paid.has(recipient) && bloomMayHold(bloom, bits))
  }
}

async function compareReceipts(scan: EvmScan, block: Block, known: readonly TransferLog[]): Promise<void> {
  const what = `receipts of block ${block.height}`
  const receipts = await ask(scan.node, what, (client) =>
    client.request({ method: 'eth_getBlockReceipts', params: [numberToHex(block.height)] }),
  )
  if (receipts?.length !== block.transactions || receipts.some(({ blockHash }) => blockHash !== block.hash)) {
    throw refusal(scan.node, what, 'they are not those of the block that was read')
  }
  const indexes = new Set(known.map(({ logIndex }) => logIndex))
  for (const log of receipts.flatMap((receipt) => receipt.logs)) {
    const found = parseTransfer(scan.watch, log)
    if (found !== null && found !== 'malformed' && !indexes.has(found.logIndex)) {
      throw refusal(
        scan.node,
        what,
        `they hold a transfer (${found.tx}, log ${found.logIndex}) its logs left out`,
      )
    }
  }
}

import { numberToHex } from 'viem'
import { mapBounded } from '../map-bounded.ts'
import type { Block, Blocks } from './blocks.ts'
import { bloomBits, bloomMayHold, bloomShare, parseBloom } from './bloom.ts'
import { ask, refusal } from './node.ts'
import { emittersOf, parseTransfer, type TransferLog, topicOf, transferTopic } from './transfer-log.ts'
import type { EvmScan, EvmWatch } from './watch.ts'

type Told = {
  logs: readonly TransferLog[]
  /** Where whole contracts were asked for: which of them wrote a Transfer in each block. */
  heard: ReadonlyMap<bigint, ReadonlySet<string>> | null
}

/**
 * Refuses a log answer that left something out. Where a block's log filter may hold a watched transfer that was
 * not among the logs, the block's receipts decide; they come from another index of the node than its logs do.
 * @throws Fault `remote_failed` where the receipts hold a transfer that the logs lacked
 */
export async function refuseOmissions(scan: EvmScan, blocks: Blocks, { logs, heard }: Told): Promise<void> {
  const known = Map.groupBy(logs, ({ height }) => height)
  const mayHold = heard === null ? recipientProbe(scan.watch) : contractProbe(scan.watch, heard)
  const suspects = [...blocks.values()].filter((block) => mayHold(block, known.get(block.height) ?? []))
  await mapBounded(suspects, scan.bounds.requestsAtOnce, (block) =>
    compareReceipts(scan, block, known.get(block.height) ?? []),
  )
}

type Probe = (block: Block, known: readonly TransferLog[]) => boolean

/** A filter that holds so much by chance accuses everybody: what it says is then worth no request. */
const chanceMax = 0.1

/** Tells whether a block's filter may hold a transfer to someone to whom none is known. */
function recipientProbe(watch: EvmWatch): Probe {
  const event = bloomBits(transferTopic)
  const emitters = emittersOf(watch).map((emitter) => bloomBits(`0x${emitter.slice(2)}`))
  const recipients = [...(emitters.length > 0 ? watch.recipients : [])].map((recipient) => ({
    recipient,
    bits: bloomBits(topicOf(recipient)),
  }))
  return (block, known) => {
    const bloom = parseBloom(block.bloom)
    if (!bloomMayHold(bloom, event) || !emitters.some((bits) => bloomMayHold(bloom, bits))) return false
    if (bloomShare(bloom) ** 3 * recipients.length > chanceMax) return false
    const paid = new Set(known.map(({ to }) => to))
    return recipients.some(({ recipient, bits }) => !paid.has(recipient) && bloomMayHold(bloom, bits))
  }
}

/** Tells whether a block's filter may hold a transfer by a contract that wrote none in it. */
function contractProbe(watch: EvmWatch, heard: NonNullable<Told['heard']>): Probe {
  const event = bloomBits(transferTopic)
  const emitters = emittersOf(watch).map((emitter) => ({ emitter, bits: bloomBits(`0x${emitter.slice(2)}`) }))
  return (block) => {
    const bloom = parseBloom(block.bloom)
    if (!bloomMayHold(bloom, event) || bloomShare(bloom) ** 3 * emitters.length > chanceMax) return false
    const wrote = heard.get(block.height)
    return emitters.some(({ emitter, bits }) => wrote?.has(emitter) !== true && bloomMayHold(bloom, bits))
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

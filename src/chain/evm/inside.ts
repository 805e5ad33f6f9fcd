import type { RpcTransactionReceipt } from 'viem'
import type { AssetKey, TxId } from '../../core/asset.ts'
import { toAmount } from '../../core/money.ts'
import { mapBounded } from '../map-bounded.ts'
import type { BalanceMovement, ChainTransfer } from '../types.ts'
import type { EvmBlock } from './blocks.ts'
import { refusal } from './node.ts'
import type { Inner } from './trace-dialects.ts'
import { readTraces } from './traces.ts'
import { coinEmitter } from './transfer-log.ts'
import type { EvmScan } from './watch.ts'
import { depositTopic, isReported, readReceipt, withdrawalTopic } from './wrapping.ts'

type TraceReading = { transfers: ChainTransfer[]; movements: BalanceMovement[] }

/**
 * The native coin that watched addresses received and sent inside of transactions, which blocks and logs do not show.
 * @throws Fault `remote_failed`, also if the node traces no blocks
 */
export async function readInside(scan: EvmScan, blocks: readonly EvmBlock[]): Promise<TraceReading> {
  const { native } = scan.watch
  if (native === null) return { transfers: [], movements: [] }
  const inside = await mapBounded(blocks, scan.bounds.requestsAtOnce, (block) =>
    readBlock(scan, block, native),
  )
  return {
    transfers: inside.flatMap(({ transfers }) => transfers),
    movements: inside.flatMap(({ movements }) => movements),
  }
}

async function readBlock(scan: EvmScan, block: EvmBlock, native: AssetKey): Promise<TraceReading> {
  const { node, watch } = scan
  const all = await readTraces(node, block)
  const ours = all.filter(({ from, to }) => watch.recipients.has(from) || watch.recipients.has(to))
  const inside: TraceReading = { transfers: [], movements: [] }
  for (const [tx, inner] of Map.groupBy(ours, (one) => one.tx)) {
    const receipt = await receiptIn(scan, block, tx)
    for (const one of inner) {
      const place = { network: watch.network, tx, asset: native, index: `trace:${one.place}` }
      const at = { height: block.height, blockHash: block.hash }
      if (watch.recipients.has(one.to) && !isPaidOtherwise(scan, receipt, one))
        inside.transfers.push({ ...place, ...at, ...endsOf(one), blockAt: block.at })
      if (watch.recipients.has(one.from) && !isWrapped(scan, receipt, one))
        inside.movements.push({ ...place, ...at, address: one.from, change: -one.value })
    }
  }
  return inside
}

function endsOf({ from, to, value }: Inner): Pick<ChainTransfer, 'from' | 'to' | 'amount'> {
  return { from, to, amount: toAmount(value) }
}

async function receiptIn({ node }: EvmScan, block: EvmBlock, tx: TxId): Promise<RpcTransactionReceipt> {
  const receipt = await readReceipt(node, tx)
  if (receipt.blockHash !== block.hash || receipt.status !== '0x1')
    throw refusal(node, `receipt of ${tx}`, `it does not fit the traces of block ${block.height}`)
  return receipt
}

/**
 * True if the payment is reported elsewhere: by a log of the chain itself (EIP-7708), or as a movement if it is an
 * unwrapped coin.
 */
function isPaidOtherwise({ watch }: EvmScan, receipt: RpcTransactionReceipt, { tx, from, to, value }: Inner) {
  if (receipt.logs.some(({ address }) => address.toLowerCase() === coinEmitter)) return true
  const wrapping = { tx, contract: from, address: to, value }
  return watch.contracts.has(from) && isReported(receipt, wrapping, withdrawalTopic)
}

function isWrapped({ watch }: EvmScan, receipt: RpcTransactionReceipt, { tx, from, to, value }: Inner) {
  const wrapping = { tx, contract: to, address: from, value }
  return watch.contracts.has(to) && isReported(receipt, wrapping, depositTopic)
}

import type { RpcTransactionReceipt } from 'viem'
import type { Address, AssetKey, TxId } from '../../core/asset.ts'
import { assert } from '../../core/errors.ts'
import { mapBounded } from '../map-bounded.ts'
import type { BalanceMovement, ChainTransfer, FinalityStage } from '../types.ts'
import type { Blocks } from './blocks.ts'
import { type EvmBlock, type NativePayment, type NativeSpending, transferIn } from './headers.ts'
import type { EvmScan } from './node.ts'
import { readReceipt } from './receipts.ts'
import { readInside } from './traces.ts'
import type { TransferLog } from './transfer-log.ts'

export type NativeReading = { transfers: ChainTransfer[]; movements: BalanceMovement[] }

/**
 * Covers payments to watched addresses and, in final blocks, value and fees that they paid; payments by contracts only
 * if blocks are traced.
 */
export async function readNative(
  scan: EvmScan,
  blocks: Blocks,
  stage: FinalityStage,
): Promise<NativeReading> {
  const { native } = scan.watch
  if (native === null) return { transfers: [], movements: [] }
  const all = [...blocks.values()]
  const payments = all.flatMap((block) => block.payments.map((payment) => ({ block, payment })))
  const spent = (stage === 'final' ? all : []).flatMap((block) =>
    block.spendings.map((spending) => ({ block, spending })),
  )
  const receipts = await readReceipts(scan, [
    ...payments.flatMap(({ block, payment: { tx, index } }) => (index === 'mint' ? [] : [{ block, tx }])),
    ...spent.map(({ block, spending: { tx } }) => ({ block, tx })),
  ])
  const inside = await readInside(scan, stage === 'final' && scan.watch.traced ? all : [])
  const succeeded = (tx: TxId) => receipts.get(tx)?.status === '0x1'
  return {
    transfers: payments
      .filter(({ payment: { tx, index } }) => index === 'mint' || succeeded(tx))
      .map(({ block, payment }) => coinTransfer(scan, block, payment))
      .concat(inside.transfers),
    movements: spent
      .flatMap((one) => movementsOf(scan, native, { ...one, receipt: receipts.get(one.spending.tx) }))
      .concat(inside.movements),
  }
}

/**
 * Counts a payment by a transaction itself once. Its EIP-7708 log is the first of the coin's in that transaction; later
 * ones are payments by contracts.
 */
export function withoutPayments(
  scan: EvmScan,
  logs: readonly TransferLog[],
  payments: Iterable<NativePayment>,
): TransferLog[] {
  const paid = new Map([...payments].filter(({ index }) => index === 'native').map((one) => [one.tx, one]))
  const coins = logs.filter(({ asset, tx }) => asset === scan.watch.native && paid.has(tx))
  const echoes = new Map<TxId, TransferLog>()
  for (const log of coins.toSorted((one, other) => one.logIndex - other.logIndex)) {
    const payment = paid.get(log.tx)
    const isSame = payment?.from === log.from && payment.to === log.to && payment.value === log.value
    if (isSame && !echoes.has(log.tx)) echoes.set(log.tx, log)
  }
  return logs.filter((log) => echoes.get(log.tx) !== log)
}

type BlockSpending = { block: EvmBlock; spending: NativeSpending }

async function readReceipts(
  { node, bounds }: EvmScan,
  transactions: readonly { block: EvmBlock; tx: TxId }[],
): Promise<ReadonlyMap<TxId, RpcTransactionReceipt>> {
  const blocks = new Map(transactions.map(({ tx, block }) => [tx, block]))
  const receipts = await mapBounded(
    [...blocks],
    bounds.requestsAtOnce,
    async ([tx, block]) => [tx, await readReceipt(node, tx, block)] as const,
  )
  return new Map(receipts)
}

function movementsOf(
  { watch }: EvmScan,
  asset: AssetKey,
  { block, spending, receipt }: BlockSpending & { receipt: RpcTransactionReceipt | undefined },
): BalanceMovement[] {
  const { tx, from, to, value } = spending
  const paid = receipt?.status === '0x1' && to !== from ? value : 0n
  const recipient = to ?? (receipt?.contractAddress?.toLowerCase() as Address | undefined)
  const parts = [
    { index: 'native', change: -paid, recipients: recipient === undefined ? [] : [recipient] },
    { index: 'fee', change: receipt === undefined ? 0n : -feeOf(receipt), recipients: [] },
  ]
  const position = {
    network: watch.network,
    tx,
    asset,
    address: from,
    height: block.height,
    blockHash: block.hash,
  }
  return parts.filter(({ change }) => change !== 0n).map((part) => ({ ...position, ...part }))
}

/** OP Stack chains state the fee for their parent chain here. */
type RollupReceipt = RpcTransactionReceipt & { l1Fee?: `0x${string}` | null }

/** Gas, blobs, and the fee for a parent chain, which Arbitrum includes in its gas. */
function feeOf(receipt: RollupReceipt): bigint {
  const { gasUsed, effectiveGasPrice, blobGasUsed, blobGasPrice, l1Fee } = receipt
  const blobFee = BigInt(blobGasUsed ?? 0) * BigInt(blobGasPrice ?? 0)
  return BigInt(gasUsed) * BigInt(effectiveGasPrice) + blobFee + BigInt(l1Fee ?? 0)
}

export function coinTransfer(scan: EvmScan, block: EvmBlock, payment: NativePayment): ChainTransfer {
  const asset = scan.watch.native
  assert(asset !== null, 'payments are read only if the coin is an asset')
  return transferIn(scan, block, { asset, ...payment })
}

import type { Hex, RpcTransactionReceipt } from 'viem'
import { getTransaction } from 'viem/actions'
import type { Address, TxId } from '../../core/asset.ts'
import type { ChainTransfer, TransactionReading } from '../port.ts'
import { type EvmBlock, type NativePayment, paymentsOf, readHeader } from './blocks.ts'
import { readEnds } from './finality.ts'
import { readInside } from './inside.ts'
import { nativeTransfer, withoutPayments } from './native.ts'
import { ask, refusal } from './node.ts'
import { tokenTransfer } from './track.ts'
import { isTransfer, parseTransfer } from './transfer-log.ts'
import type { EvmScan } from './watch.ts'

/**
 * Reads one transaction by its hash, as a scan would tell it. One that failed is told once its block is final, since
 * before that it may still succeed in another; until then it is unknown. One that failed and yet brought something, as
 * deposits to a rollup do, is told like any other.
 * @throws Fault `remote_failed` where the node cannot be believed
 */
export async function readTransaction(scan: EvmScan, tx: TxId): Promise<TransactionReading> {
  // Asked first: what is at a height that was final before is final too.
  const { final } = await readEnds(scan)
  const receipt = await readReceipt(scan, tx)
  if (receipt === null) return { kind: 'unknown' }
  const block = await readHeader(scan.node, BigInt(receipt.blockNumber))
  if (block.hash !== receipt.blockHash)
    throw refusal(scan.node, `receipt of ${tx}`, `it is of another block than ${block.height}`)
  const stage = final !== null && block.height <= final.height ? 'final' : 'seen'
  const offered = await readPayments(scan, receipt, block)
  const payments = receipt.status === '0x1' ? offered : offered.filter(({ index }) => index === 'mint')
  if (receipt.status !== '0x1' && payments.length === 0)
    return stage === 'final' ? { kind: 'failed', height: block.height } : { kind: 'unknown' }
  const inside = await readInside(scan, scan.watch.traced ? [block] : [])
  const transfers = [
    ...tokenTransfers(scan, receipt, { block, payments }),
    ...coinTransfers(scan, { block, payments }),
    ...inside.transfers.filter((transfer) => transfer.tx === tx),
  ]
  return { kind: 'read', transfers: transfers.map((transfer) => ({ ...transfer, stage })) }
}

async function readReceipt({ node }: EvmScan, tx: TxId): Promise<RpcTransactionReceipt | null> {
  const what = `receipt of ${tx}`
  const receipt = await ask(node, what, (client) =>
    client.request({ method: 'eth_getTransactionReceipt', params: [hashOf(tx)] }),
  )
  if (receipt === null) return null
  if (receipt.transactionHash.toLowerCase() !== tx || receipt.logs.some(({ removed }) => removed))
    throw refusal(node, what, 'it is of another transaction, or was taken back')
  return receipt
}

type BlockPayments = { block: EvmBlock; payments: readonly NativePayment[] }

function tokenTransfers(
  scan: EvmScan,
  { logs }: RpcTransactionReceipt,
  { block, payments }: BlockPayments,
): ChainTransfer[] {
  const blocks = new Map([[block.height, block]])
  const found = logs.map((log) => parseTransfer(scan.watch, log))
  return withoutPayments(scan, found.filter(isTransfer), payments).map((log) =>
    tokenTransfer(scan, blocks, log),
  )
}

function coinTransfers(scan: EvmScan, { block, payments }: BlockPayments): ChainTransfer[] {
  const { native } = scan.watch
  return native === null ? [] : payments.map((payment) => nativeTransfer(scan, native, { block, payment }))
}

async function readPayments(
  scan: EvmScan,
  receipt: RpcTransactionReceipt,
  block: EvmBlock,
): Promise<NativePayment[]> {
  const { native, recipients } = scan.watch
  const parties = [receipt.from, receipt.to ?? receipt.from].map((party) => party.toLowerCase() as Address)
  if (native === null || !parties.some((party) => recipients.has(party))) return []
  const hash = receipt.transactionHash
  const transaction = await ask(scan.node, `transaction ${hash}`, (client) =>
    getTransaction(client, { hash }),
  )
  if (transaction.blockHash !== block.hash)
    throw refusal(scan.node, `transaction ${hash}`, `it is of another block than ${block.height}`)
  return paymentsOf(scan.watch, transaction)
}

function hashOf(tx: TxId): Hex {
  return tx as string as Hex
}

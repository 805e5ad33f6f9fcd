import { type Hex, numberToHex, type RpcLog, type RpcTransactionReceipt } from 'viem'
import type { Address, TxId } from '../../core/asset.ts'
import { refusal } from '../pool.ts'
import type { EvmBlock } from './headers.ts'
import { ask, type EvmNode } from './node.ts'
import { addressOf, transferTopic } from './transfer-log.ts'

/**
 * `Deposit(address,uint256)` and `Withdrawal(address,uint256)`: WETH9 and its copies write no Transfer when wrapping.
 */
export const depositTopic: Hex = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c'
export const withdrawalTopic: Hex = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65'

export type CoinWrap = { tx: TxId; contract: Address; address: Address; value: bigint }

/**
 * Null if the node has none.
 * @throws Fault `remote_failed`, also if the receipt belongs to another transaction or holds a removed log
 */
export async function findReceipt(node: EvmNode, tx: TxId): Promise<RpcTransactionReceipt | null> {
  const what = `receipt of ${tx}`
  const receipt = await ask(node, what, (request) =>
    request({ method: 'eth_getTransactionReceipt', params: [tx as string as Hex] }),
  )
  if (receipt === null) return null
  if (receipt.transactionHash.toLowerCase() !== tx || receipt.logs.some(({ removed }) => removed))
    throw refusal(node, what, 'it belongs to another transaction, or one of its logs was removed')
  return receipt
}

/** @throws Fault `remote_failed`, also if the node has no receipt for it in that block */
export async function readReceipt(
  node: EvmNode,
  tx: TxId,
  block?: Pick<EvmBlock, 'height' | 'hash'>,
): Promise<RpcTransactionReceipt> {
  const receipt = await findReceipt(node, tx)
  if (receipt === null) throw refusal(node, `receipt of ${tx}`, 'the node has none')
  if (block !== undefined) requireInBlock(node, receipt, block)
  return receipt
}

/** @throws Fault `remote_failed` if the receipt belongs to another block */
export function requireInBlock(
  node: EvmNode,
  { transactionHash, blockHash }: Pick<RpcTransactionReceipt, 'transactionHash' | 'blockHash'>,
  { height, hash }: Pick<EvmBlock, 'height' | 'hash'>,
): void {
  if (blockHash === hash) return
  throw refusal(
    node,
    `receipt of ${transactionHash}`,
    `it belongs to another block than the one at ${height}`,
  )
}

/**
 * False for a vault, which uses these event names for another purpose. It also writes Transfers from or to the zero
 * address, which cover everything that moved.
 */
export function isOfCoin({ logs }: RpcTransactionReceipt, wrapping: CoinWrap): boolean {
  return !logs.some(
    (log) =>
      isBy(log, wrapping) && log.topics[0] === transferTopic && isBetween(log, zeroAddress, wrapping.address),
  )
}

export function isReported(receipt: RpcTransactionReceipt, wrapping: CoinWrap, event: Hex): boolean {
  const reported = receipt.logs.some(
    (log) =>
      isBy(log, wrapping) &&
      log.topics[0] === event &&
      addressOf(log.topics[1]) === wrapping.address &&
      log.data === numberToHex(wrapping.value, { size: 32 }),
  )
  return reported && isOfCoin(receipt, wrapping)
}

const zeroAddress = `0x${'0'.repeat(40)}` as Address

function isBy(log: RpcLog, { contract }: CoinWrap): boolean {
  return log.address.toLowerCase() === contract
}

function isBetween({ topics }: RpcLog, one: Address, other: Address): boolean {
  const ends = topics.slice(1, 3).map(addressOf)
  return ends.includes(one) && ends.includes(other)
}

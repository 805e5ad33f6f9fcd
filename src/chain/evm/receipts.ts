import { type Hex, numberToHex, type RpcLog, type RpcTransactionReceipt } from 'viem'
import type { Address, TxId } from '../../core/asset.ts'
import { ask, type EvmNode, refusal } from './node.ts'
import { addressOf, transferTopic } from './transfer-log.ts'

/**
 * `Deposit(address,uint256)` and `Withdrawal(address,uint256)`: WETH9 and its copies write these when the native coin
 * is wrapped or unwrapped, and no Transfer.
 */
export const depositTopic: Hex = '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c'
export const withdrawalTopic: Hex = '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65'

/** An amount that one address wrapped or unwrapped in a transaction. */
export type CoinWrap = { tx: TxId; contract: Address; address: Address; value: bigint }

/** @throws Fault `remote_failed`, also if the node has no receipt for a transaction of which it returned a log */
export async function readReceipt(node: EvmNode, tx: TxId): Promise<RpcTransactionReceipt> {
  const what = `receipt of ${tx}`
  const receipt = await ask(node, what, (client) =>
    client.request({ method: 'eth_getTransactionReceipt', params: [tx as string as Hex] }),
  )
  if (receipt === null) throw refusal(node, what, 'there is none')
  return receipt
}

/**
 * False for a contract that also writes a Transfer from or to the zero address. Such a contract is a vault, which uses
 * these event names for another purpose; its Transfer logs cover everything that moved.
 */
export function isOfCoin({ logs }: RpcTransactionReceipt, wrapping: CoinWrap): boolean {
  return !logs.some(
    (log) =>
      isBy(log, wrapping) && log.topics[0] === transferTopic && isBetween(log, nobody, wrapping.address),
  )
}

/** True if the receipt has this event for that address and value. */
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

const nobody = `0x${'0'.repeat(40)}` as Address

function isBy(log: RpcLog, { contract }: CoinWrap): boolean {
  return log.address.toLowerCase() === contract
}

function isBetween({ topics }: RpcLog, one: Address, other: Address): boolean {
  const ends = topics.slice(1, 3).map(addressOf)
  return ends.includes(one) && ends.includes(other)
}

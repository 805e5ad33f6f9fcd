import { type Hex, pad, type RpcLog } from 'viem'
import type { Address, AssetKey, TxId } from '../../core/asset.ts'
import type { EvmWatch } from './watch.ts'

/** `Transfer(address,address,uint256)` */
export const transferTopic: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/**
 * Writes a Transfer log for each movement of the native coin, where a chain has EIP-7708. What it says is the coin
 * itself, never a token.
 */
export const coinEmitter = '0xfffffffffffffffffffffffffffffffffffffffe' as Address

/** A Transfer log of an allow-listed contract, or of the native coin, to a watched address. */
export type TransferLog = Paid & Place & { asset: AssetKey }

type Paid = { from: Address; to: Address; value: bigint }

/** Where in the chain a log is. */
export type Place = { tx: TxId; height: bigint; blockHash: Hex; logIndex: number }

/**
 * Reads a log. Null for what does not count: other contracts, other events, others' addresses, and what moves
 * nothing (no value, or to the sender itself). `malformed` where it names a watched address and yet is nothing that
 * an ERC-20 token in a block can have written.
 */
export function parseTransfer(watch: EvmWatch, log: RpcLog): TransferLog | 'malformed' | null {
  const asset = assetOf(watch, log.address.toLowerCase() as Address)
  if (asset === null || log.topics[0] !== transferTopic) return null
  const to = addressOf(log.topics[2])
  if (to === null || !watch.recipients.has(to)) return null
  const from = addressOf(log.topics[1])
  const place = placeOf(log)
  const value = valueOf(log)
  if (from === null || place === null || value === null) return 'malformed'
  return value > 0n && from !== to ? { asset, from, to, value, ...place } : null
}

/** Who may say that an asset moved. */
export function emittersOf({ contracts, native }: EvmWatch): Address[] {
  return native === null ? [...contracts.keys()] : [...contracts.keys(), coinEmitter]
}

function assetOf({ contracts, native }: EvmWatch, emitter: Address): AssetKey | null {
  return emitter === coinEmitter ? native : (contracts.get(emitter) ?? null)
}

/** The form in which a log and its filter carry an address. */
export function topicOf(address: Address): Hex {
  return pad(address as Hex, { size: 32 })
}

const addressTopic = /^0x0{24}([0-9a-f]{40})$/i
const word = /^0x[0-9a-f]{64}$/i

/** Null where the topic is no address. */
export function addressOf(topic: Hex | undefined): Address | null {
  const [, digits] = addressTopic.exec(topic ?? '') ?? []
  return digits === undefined ? null : (`0x${digits.toLowerCase()}` as Address)
}

/** Null where the value is not all of the data, as with a token that indexes it (ERC-721). */
function valueOf({ topics, data }: RpcLog): bigint | null {
  return topics.length === 3 && word.test(data) ? BigInt(data) : null
}

/** Null for a pending log, which is in no block yet. */
export function placeOf({ transactionHash, blockNumber, blockHash, logIndex }: RpcLog): Place | null {
  if (transactionHash === null || blockNumber === null || blockHash === null || logIndex === null) return null
  const tx = transactionHash.toLowerCase() as TxId
  return { tx, height: BigInt(blockNumber), blockHash, logIndex: Number(logIndex) }
}

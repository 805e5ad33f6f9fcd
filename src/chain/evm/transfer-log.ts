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
 * A log that may be a Transfer to a watched address and is none that an ERC-20 token in a block can have written.
 * `topics`: not two addresses, as in a token that indexes its value (ERC-721). `data`: not one number. `fields`: it
 * does not say where it is, or who wrote what.
 */
export type OddLog = {
  odd: 'topics' | 'data' | 'fields'
  contract: string
  tx: TxId | null
  height: bigint | null
  logIndex: number | null
}

/**
 * Reads a log, as far as a node says anything of it. Null for what does not count: other contracts, other events,
 * others' addresses, and what moves nothing (no value, or to the sender itself).
 */
export function parseTransfer(watch: EvmWatch, log: Partial<RpcLog>): TransferLog | OddLog | null {
  const { address, topics } = log
  if (typeof address !== 'string' || !Array.isArray(topics)) return oddLog(log, 'fields')
  const asset = assetOf(watch, address.toLowerCase() as Address)
  if (asset === null || topics[0] !== transferTopic) return null
  const to = addressOf(topics[2])
  if (to === null || !watch.recipients.has(to)) return null
  const from = addressOf(topics[1])
  if (from === null || topics.length !== 3) return oddLog(log, 'topics')
  const value = numberIn(log.data)
  if (value === null) return oddLog(log, 'data')
  const place = placeOf(log)
  if (place === null) return oddLog(log, 'fields')
  return value > 0n && from !== to ? { asset, from, to, value, ...place } : null
}

export function isTransfer(log: TransferLog | OddLog | null): log is TransferLog {
  return log !== null && !('odd' in log)
}

export function oddLog(log: Partial<RpcLog>, odd: OddLog['odd']): OddLog {
  const { address, transactionHash, blockNumber, logIndex } = log
  return {
    odd,
    contract: typeof address === 'string' ? address.toLowerCase() : 'unknown',
    tx: isWord(transactionHash) ? (transactionHash.toLowerCase() as TxId) : null,
    height: isQuantity(blockNumber) ? BigInt(blockNumber) : null,
    logIndex: isQuantity(logIndex) ? Number(logIndex) : null,
  }
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
const quantity = /^0x[0-9a-f]{1,16}$/i

/** Null where the topic is no address. */
export function addressOf(topic: unknown): Address | null {
  const [, digits] = addressTopic.exec(typeof topic === 'string' ? topic : '') ?? []
  return digits === undefined ? null : (`0x${digits.toLowerCase()}` as Address)
}

/** Null if the data is not one number. */
export function numberIn(data: unknown): bigint | null {
  return isWord(data) ? BigInt(data) : null
}

/** Null for a pending log, which is in no block yet. */
export function placeOf({
  transactionHash,
  blockNumber,
  blockHash,
  logIndex,
}: Partial<RpcLog>): Place | null {
  if (!isWord(transactionHash) || !isQuantity(blockNumber) || !isWord(blockHash) || !isQuantity(logIndex))
    return null
  const tx = transactionHash.toLowerCase() as TxId
  return { tx, height: BigInt(blockNumber), blockHash, logIndex: Number(logIndex) }
}

function isWord(value: unknown): value is Hex {
  return typeof value === 'string' && word.test(value)
}

function isQuantity(value: unknown): value is Hex {
  return typeof value === 'string' && quantity.test(value)
}

import type { Hex, RpcLog } from 'viem'
import { pad } from 'viem/utils'
import type { Address, AssetKey, TxId } from '../../core/asset.ts'
import { coinEmitter, type EvmWatch } from './node.ts'

/** `Transfer(address,address,uint256)` */
export const transferTopic: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

export type TransferLog = TransferArgs & LogPosition & { asset: AssetKey }

type TransferArgs = { from: Address; to: Address; value: bigint }

export type LogPosition = { tx: TxId; height: bigint; blockHash: Hex; logIndex: number }

/**
 * May be a Transfer to a watched address, but no ERC-20 token in a block can have written it. `topics`: not two
 * addresses, as with ERC-721. `data`: not a single number. `fields`: position, contract or topics are missing.
 */
export type OddLog = {
  reason: 'topics' | 'data' | 'fields'
  contract: string
  tx: TxId | null
  height: bigint | null
  logIndex: number | null
}

/**
 * Null for other contracts, events or recipients, and transfers that move nothing (no value, or to the sender itself).
 */
export function parseTransfer(watch: EvmWatch, log: Partial<RpcLog>): TransferLog | OddLog | null {
  const { address, topics } = log
  if (typeof address !== 'string' || !Array.isArray(topics)) return oddLog(log, 'fields')
  const asset = assetOf(watch, address.toLowerCase() as Address)
  const to = topics[0] === transferTopic ? addressOf(topics[2]) : null
  if (asset === null || to === null || !watch.recipients.has(to)) return null
  return transferOf(log, topics, { asset, to })
}

function transferOf(
  log: Partial<RpcLog>,
  topics: readonly Hex[],
  { asset, to }: Pick<TransferLog, 'asset' | 'to'>,
): TransferLog | OddLog | null {
  const from = topics.length === 3 ? addressOf(topics[1]) : null
  if (from === null) return oddLog(log, 'topics')
  const moved = movedBy(log)
  if ('reason' in moved) return moved
  return moved.value > 0n && from !== to ? { asset, from, to, ...moved } : null
}

export function movedBy(log: Partial<RpcLog>): (LogPosition & { value: bigint }) | OddLog {
  const value = isWord(log.data) ? BigInt(log.data) : null
  if (value === null) return oddLog(log, 'data')
  const place = placeOf(log)
  return place === null ? oddLog(log, 'fields') : { value, ...place }
}

export function isTransfer(log: TransferLog | OddLog | null): log is TransferLog {
  return log !== null && !('reason' in log)
}

export function oddLog(log: Partial<RpcLog>, reason: OddLog['reason']): OddLog {
  const { address, transactionHash, blockNumber, logIndex } = log
  return {
    reason,
    contract: typeof address === 'string' ? address.toLowerCase() : 'unknown',
    tx: isWord(transactionHash) ? (transactionHash.toLowerCase() as TxId) : null,
    height: isQuantity(blockNumber) ? BigInt(blockNumber) : null,
    logIndex: isQuantity(logIndex) ? Number(logIndex) : null,
  }
}

export function emittersOf({ contracts, native }: EvmWatch): Address[] {
  return native === null ? [...contracts.keys()] : [...contracts.keys(), coinEmitter]
}

function assetOf({ contracts, native }: EvmWatch, emitter: Address): AssetKey | null {
  return emitter === coinEmitter ? native : (contracts.get(emitter) ?? null)
}

export function topicOf(address: Address): Hex {
  return pad(address as Hex, { size: 32 })
}

const addressTopic = /^0x0{24}([0-9a-f]{40})$/i
const word = /^0x[0-9a-f]{64}$/i
const quantity = /^0x[0-9a-f]{1,16}$/i

export function addressOf(topic: unknown): Address | null {
  const [, digits] = addressTopic.exec(typeof topic === 'string' ? topic : '') ?? []
  return digits === undefined ? null : (`0x${digits.toLowerCase()}` as Address)
}

/** Null for a pending log, which is in no block yet. */
function placeOf({ transactionHash, blockNumber, blockHash, logIndex }: Partial<RpcLog>): LogPosition | null {
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

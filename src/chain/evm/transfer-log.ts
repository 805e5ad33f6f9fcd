import { type Hex, pad, type RpcLog } from 'viem'
import type { Address, AssetKey, TxId } from '../../core/asset.ts'
import type { EvmWatch } from './watch.ts'

/** `Transfer(address,address,uint256)` */
export const transferTopic: Hex = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/** A Transfer log of an allow-listed contract to a watched address. */
export type TransferLog = Movement & Place & { asset: AssetKey }

type Movement = { from: Address; to: Address; value: bigint }

type Place = { tx: TxId; height: bigint; blockHash: Hex; logIndex: number }

/**
 * Reads a log. Null for what does not count: other contracts, other events, others' addresses, and what moves
 * nothing (no value, or to the sender itself). `malformed` for what no ERC-20 token in a block can have written.
 */
export function parseTransfer(watch: EvmWatch, log: RpcLog): TransferLog | 'malformed' | null {
  const asset = watch.contracts.get(log.address.toLowerCase() as Address)
  if (asset === undefined || log.topics[0] !== transferTopic) return null
  const movement = movementOf(log)
  const place = placeOf(log)
  if (movement === null || place === null) return 'malformed'
  const { from, to, value } = movement
  return watch.recipients.has(to) && value > 0n && from !== to ? { asset, ...movement, ...place } : null
}

/** The form in which a log and its filter carry an address. */
export function topicOf(address: Address): Hex {
  return pad(address as Hex, { size: 32 })
}

const addressTopic = /^0x0{24}([0-9a-f]{40})$/i
const word = /^0x[0-9a-f]{64}$/i

function movementOf({ topics, data }: RpcLog): Movement | null {
  const [, from] = addressTopic.exec(topics[1] ?? '') ?? []
  const [, to] = addressTopic.exec(topics[2] ?? '') ?? []
  if (from === undefined || to === undefined || topics.length !== 3 || !word.test(data)) return null
  return {
    from: `0x${from.toLowerCase()}` as Address,
    to: `0x${to.toLowerCase()}` as Address,
    value: BigInt(data),
  }
}

/** Null for a pending log, which is in no block yet. */
function placeOf({ transactionHash, blockNumber, blockHash, logIndex }: RpcLog): Place | null {
  if (transactionHash === null || blockNumber === null || blockHash === null || logIndex === null) return null
  const tx = transactionHash.toLowerCase() as TxId
  return { tx, height: BigInt(blockNumber), blockHash, logIndex: Number(logIndex) }
}

import { encodeFunctionData, type Hex, hexToBigInt, type PublicClient, parseAbi } from 'viem'

/** What the newest block asked for each unit of gas, and what block makers are offered on top of it. */
export type Market = { baseFee: bigint; tip: bigint }

/** Wei for each unit of gas: all of it at most, and the block maker's part. */
export type Fees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }

export async function readMarket(client: PublicClient): Promise<Market> {
  const [block, tip] = await Promise.all([
    client.getBlock({ blockTag: 'latest' }),
    client.estimateMaxPriorityFeePerGas(),
  ])
  return { baseFee: block.baseFeePerGas ?? 0n, tip }
}

/** Stays good until the base fee has doubled. */
export function ampleFees({ baseFee, tip }: Market): Fees {
  return { maxFeePerGas: baseFee * 2n + tip, maxPriorityFeePerGas: tip }
}

/** The least that is worth signing: one block raises the base fee by an eighth at most, two by about a quarter. */
export function leastFee({ baseFee, tip }: Market): bigint {
  return (baseFee * 5n) / 4n + tip
}

/**
 * Whether a transaction that waits can be in the next block, pay its whole tip there, and is worth the block maker's
 * while: a tip moves from block to block, so half of what is usual is enough.
 */
export function isGood({ maxFeePerGas, maxPriorityFeePerGas }: Fees, { baseFee, tip }: Market): boolean {
  return maxPriorityFeePerGas * 2n >= tip && maxFeePerGas >= (baseFee * 9n) / 8n + maxPriorityFeePerGas
}

/** The fees of today where they are more than what nodes ask of a replacement. */
export function raisedFees(old: Fees, market: Market): Fees {
  const tip = greater(market.tip, bumped(old.maxPriorityFeePerGas))
  const { maxFeePerGas } = ampleFees({ ...market, tip })
  return { maxFeePerGas: greater(maxFeePerGas, bumped(old.maxFeePerGas)), maxPriorityFeePerGas: tip }
}

/** Nodes refuse a replacement unless both of its fees are higher by a tenth, some by an eighth. */
export function bumped(fee: bigint): bigint {
  return (fee * 9n) / 8n + 1n
}

const rollupOracle: Hex = '0x420000000000000000000000000000000000000F'
const rollupAbi = parseAbi(['function getL1FeeUpperBound(uint256 size) view returns (uint256)'])
/** No transfer of ours is longer. */
const transferBytesMax = 256n
/** The fee of the network below moves by itself until the transfer lands. */
const rollupMargin = 2n

/**
 * What a rollup of the OP stack (Base is one) takes beside the gas for writing a transfer to the network below. No
 * signed bytes can limit it. Zero on networks without the contract that tells it.
 */
export async function readRollupFee(client: PublicClient): Promise<bigint> {
  const data = encodeFunctionData({ abi: rollupAbi, args: [transferBytesMax] })
  const answer = await client.call({ to: rollupOracle, data })
  return answer.data === undefined ? 0n : hexToBigInt(answer.data) * rollupMargin
}

function greater(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}

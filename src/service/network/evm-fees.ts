import { encodeFunctionData, type Hex, hexToBigInt, type PublicClient, parseAbi } from 'viem'

/** Per unit of gas. The tip is the usual one. */
export type Market = { baseFee: bigint; tip: bigint }

/** Wei per unit of gas. */
export type Fees = { maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }

export async function readMarket(client: PublicClient): Promise<Market> {
  const [block, tip] = await Promise.all([
    client.getBlock({ blockTag: 'latest' }),
    client.estimateMaxPriorityFeePerGas(),
  ])
  return { baseFee: block.baseFeePerGas ?? 0n, tip }
}

/** Sufficient until the base fee has doubled. */
export function ampleFees({ baseFee, tip }: Market): Fees {
  return { maxFeePerGas: baseFee * 2n + tip, maxPriorityFeePerGas: tip }
}

/** A block raises the base fee by at most an eighth, two blocks by about a quarter. */
export function leastFee({ baseFee, tip }: Market): bigint {
  return (baseFee * 5n) / 4n + tip
}

/** The transaction must pay its whole tip in the next block. Tips vary, so half of the usual one is enough. */
export function isSufficient(
  { maxFeePerGas, maxPriorityFeePerGas }: Fees,
  { baseFee, tip }: Market,
): boolean {
  return maxPriorityFeePerGas * 2n >= tip && maxFeePerGas >= (baseFee * 9n) / 8n + maxPriorityFeePerGas
}

/** At least the increase that nodes require of a replacement. */
export function raisedFees(old: Fees, market: Market): Fees {
  const tip = greater(market.tip, bumped(old.maxPriorityFeePerGas))
  const { maxFeePerGas } = ampleFees({ ...market, tip })
  return { maxFeePerGas: greater(maxFeePerGas, bumped(old.maxFeePerGas)), maxPriorityFeePerGas: tip }
}

/** Both fees must rise by a tenth; some nodes require an eighth. */
export function bumped(fee: bigint): bigint {
  return (fee * 9n) / 8n + 1n
}

const rollupOracle: Hex = '0x420000000000000000000000000000000000000F'
const rollupAbi = parseAbi(['function getL1FeeUpperBound(uint256 size) view returns (uint256)'])
const transferBytesMax = 256n
/** The L1 fee can change until the transfer lands. */
const rollupMargin = 2n

/**
 * Charged on an OP stack rollup (such as Base), on top of the gas. Signed bytes cannot limit it. Zero without the fee
 * oracle contract.
 */
export async function readRollupFee(client: PublicClient): Promise<bigint> {
  const data = encodeFunctionData({ abi: rollupAbi, args: [transferBytesMax] })
  const answer = await client.call({ to: rollupOracle, data })
  return answer.data === undefined ? 0n : hexToBigInt(answer.data) * rollupMargin
}

function greater(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}

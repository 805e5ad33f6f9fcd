import type { Hex } from 'viem'
import { decodeFunctionResult, encodeFunctionData, numberToHex, parseAbi } from 'viem/utils'
import { assetCode } from '../../core/asset.ts'
import { Fault, isFault } from '../../core/errors.ts'
import { chunksOf, mapBounded } from '../map-bounded.ts'
import { allFailed, type NodeFault, type Pool, refusal } from '../pool.ts'
import { isPastStateGone } from '../refusals.ts'
import type { BalanceReading, BalanceRequest, BlockMark } from '../types.ts'
import { readEnds } from './finality.ts'
import { readHeader } from './headers.ts'
import { askInBatch, type EvmNode, type EvmScan } from './node.ts'

type BalancePair = BalanceRequest['pairs'][number]

/**
 * If no node keeps state that old, the reading is of the current final block.
 * @throws Fault `remote_failed`, also if another block than the named one is at that height
 */
export async function readBalances(
  pool: Pool<EvmNode>,
  scanOf: (node: EvmNode) => EvmScan,
  { pairs, at }: BalanceRequest,
): Promise<BalanceReading> {
  const now = () => pool.onFirst((node) => readNow(scanOf(node), pairs))
  if (at === null) return now()
  const faults: NodeFault[] = []
  let isGone = false
  for (const node of pool.inOrder()) {
    const reading = await pool.attempt(node, () => readPast(scanOf(node), pairs, at))
    if (reading instanceof Fault) faults.push(reading)
    else if (reading !== null) return reading
    else isGone = true
  }
  if (isGone) return now()
  throw allFailed(faults)
}

async function readNow(scan: EvmScan, pairs: readonly BalancePair[]): Promise<BalanceReading> {
  const mark = await finalMark(scan)
  return { at: mark, balances: await balancesAt(scan, pairs, mark.height) }
}

/** Null if the node has the block but no longer its state. */
async function readPast(
  scan: EvmScan,
  pairs: readonly BalancePair[],
  at: NonNullable<BalanceRequest['at']>,
): Promise<BalanceReading | null> {
  const mark = await markAt(scan, at)
  try {
    return { at: mark, balances: await balancesAt(scan, pairs, mark.height) }
  } catch (error) {
    if (isFault(error, 'remote_failed') && isPastStateGone(error.details.problem)) return null
    throw error
  }
}

async function finalMark(scan: EvmScan): Promise<BlockMark> {
  const { final } = await readEnds(scan)
  if (final === null) throw refusal(scan.node, 'balances', 'the node has no final block yet')
  return { height: final.height, hash: final.hash }
}

async function markAt({ node }: EvmScan, { height, hash }: Partial<BlockMark> & { height: bigint }) {
  const header = await readHeader(node, height)
  if (hash !== undefined && hash !== header.hash)
    throw refusal(
      node,
      `block ${height}`,
      `its hash is ${header.hash}, but the balances were requested at ${hash}`,
    )
  return { height, hash: header.hash }
}

async function balancesAt(
  scan: EvmScan,
  pairs: readonly BalancePair[],
  height: bigint,
): Promise<readonly bigint[]> {
  const { balancesPerRequest, requestsAtOnce } = scan.bounds
  const chunks = chunksOf(pairs, balancesPerRequest)
  const read = await mapBounded(chunks, requestsAtOnce, (chunk) => chunkAt(scan.node, chunk, height))
  return mapBounded(read.flat(), balancesPerRequest, async (one) =>
    typeof one === 'bigint' ? one : readOne(scan.node, one, height),
  )
}

/** Returns the pairs themselves if they must be read one by one. */
async function chunkAt(
  node: EvmNode,
  pairs: readonly BalancePair[],
  height: bigint,
): Promise<readonly (bigint | BalancePair)[]> {
  if (pairs.length === 1) return pairs
  const answers = await callMany(node, pairs.map(callOf), height)
  if (answers === null) return pairs
  return pairs.map((pair, index) => toBalance(node, pair, answers[index] ?? null))
}

async function readOne(node: EvmNode, pair: BalancePair, height: bigint): Promise<bigint> {
  const address = pair.address as Hex
  if (assetCode(pair.asset) !== 'native')
    return toBalance(node, pair, await callAt(node, callOf(pair), height))
  const balance = await askInBatch(node, `balance of ${address} at block ${height}`, (request) =>
    request({ method: 'eth_getBalance', params: [address, numberToHex(height)] }),
  )
  return BigInt(balance)
}

const tokenAbi = parseAbi(['function balanceOf(address owner) view returns (uint256)'])

function callOf({ address, asset }: BalancePair): ViewCall {
  const code = assetCode(asset)
  const args = [address as Hex] as const
  return code === 'native'
    ? { to: multicall, data: encodeFunctionData({ abi: multicallAbi, functionName: 'getEthBalance', args }) }
    : { to: code as Hex, data: encodeFunctionData({ abi: tokenAbi, functionName: 'balanceOf', args }) }
}

const word = /^0x[0-9a-f]{64}$/i

/** An empty answer means that the contract did not exist yet, so the balance is zero. */
function toBalance(node: EvmNode, { address, asset }: BalancePair, answer: Hex | null): bigint {
  if (answer === '0x') return 0n
  if (answer === null || !word.test(answer))
    throw refusal(node, `balance of ${address}`, `${asset} did not return a number`)
  return BigInt(answer)
}

type ViewCall = { to: Hex; data: Hex }

/** Multicall3, deployed at the same address on over 250 chains (github.com/mds1/multicall3). */
const multicall: Hex = '0xca11bde05977b3631167028862be2a173976ca11'

const multicallAbi = parseAbi([
  'struct Call3 { address target; bool allowFailure; bytes callData; }',
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3(Call3[] calls) payable returns (Result[] returnData)',
  'function getEthBalance(address addr) view returns (uint256 balance)',
])

/**
 * @returns null for each reverted call; null if the contract did not exist at that height
 * @throws Fault `remote_failed`
 */
async function callMany(
  node: EvmNode,
  calls: readonly ViewCall[],
  height: bigint,
): Promise<(Hex | null)[] | null> {
  const what = `${calls.length} calls at block ${height}`
  const args = calls.map(({ to, data }) => ({ target: to, allowFailure: true, callData: data }))
  const data = encodeFunctionData({ abi: multicallAbi, functionName: 'aggregate3', args: [args] })
  const answer = await callAt(node, { to: multicall, data }, height)
  if (answer === '0x') return null
  const results = decodeResults(answer)
  if (results?.length !== calls.length) throw refusal(node, what, 'the number of answers differs')
  return results.map(({ success, returnData }) => (success ? returnData : null))
}

/** An address without code answers `0x`. */
function callAt(node: EvmNode, call: ViewCall, height: bigint): Promise<Hex> {
  return askInBatch(node, `call of ${call.to} at block ${height}`, (request) =>
    request({ method: 'eth_call', params: [call, numberToHex(height)] }),
  )
}

function decodeResults(data: Hex): readonly { success: boolean; returnData: Hex }[] | null {
  try {
    return decodeFunctionResult({ abi: multicallAbi, functionName: 'aggregate3', data })
  } catch {
    return null
  }
}

import { createClient, type Hex, http, parseAbiItem } from 'viem'
import { getBlock, getLogs } from 'viem/actions'
import { createEvmReader } from '../../src/chain/evm/reader.ts'
import { mapBounded } from '../../src/chain/map-bounded.ts'
import { defaultBounds } from '../../src/chain/options.ts'
import type { ScanCursor } from '../../src/chain/types.ts'
import { type Address, assetKey, type NetworkName } from '../../src/core/asset.ts'
import type { ScriptedChain } from '../../test/support/scripted-evm-chain.ts'
import { scriptedChainId } from '../../test/support/scripted-evm-node.ts'
import { heapBytes } from './heap-bytes.ts'

/** What reads the chain in B6, and what the target is held against. */
export const arms = {
  ours: 'depositd: limits found by itself, every answer proved, quota waited for',
  bare: 'viem: getLogs over the limit it is told, then getBlock for the times, as many requests at once',
  sequential: 'the same, one request at a time',
} as const

export type Arm = keyof typeof arms

export type Found = {
  /** `height/log index` of each transfer. */
  keys: Set<string>
  /** Bytes on the heap after each scan and a collection; empty where there are no scans. */
  heapBytes: number[]
}

export type Reading = { url: string; chain: ScriptedChain; blocksMax: number; from: number; to: number }

export async function readOurs({ url, chain, from }: Reading): Promise<Found> {
  const network = 'base' as NetworkName
  const asset = { key: assetKey(network, chain.token), network, symbol: 'USDC', decimals: 6 }
  const reader = createEvmReader({
    name: network,
    family: 'evm',
    chainId: scriptedChainId,
    rpcUrls: [url],
    assets: [asset],
  })
  const watched: ReadonlySet<Address> = new Set(chain.watched)
  const found: Found = { keys: new Set(), heapBytes: [] }
  for (let cursor: ScanCursor | null = null, more = true; more; ) {
    const result = await reader.scan({ cursor, startHeight: BigInt(from), watched })
    for (const { stage, height, index } of result.transfers)
      if (stage === 'final') found.keys.add(`${height}/${index}`)
    found.heapBytes.push(heapBytes())
    cursor = result.cursor
    more = result.more
  }
  return found
}

const transferEvent = parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)')

/**
 * What many write first: all logs, then the times of their blocks in full requests. It is told the limits, proves
 * nothing, and cuts a query in half where it is refused.
 */
export async function readBare({ url, chain, blocksMax, from, to }: Reading, atOnce: number): Promise<Found> {
  const options = { retryCount: 8, retryDelay: 100, timeout: 60_000, fetchFn: fetchAtOnce(atOnce) }
  const client = createClient({ transport: http(url, options) })
  const batch = { batchSize: defaultBounds.requestsPerBatch }
  const batching = createClient({ transport: http(url, { ...options, batch }) })
  const watched: ReadonlySet<string> = new Set(chain.watched)
  const found: Found = { keys: new Set(), heapBytes: [] }
  const heights = new Set<bigint>()
  const readPiece = async (first: number, last: number): Promise<void> => {
    const filter = {
      address: chain.token as string as Hex,
      event: transferEvent,
      fromBlock: BigInt(first),
      toBlock: BigInt(last),
    }
    const logs = await getLogs(client, filter).catch(() => null)
    if (logs === null) {
      const middle = Math.floor((first + last) / 2)
      await readPiece(first, middle)
      return readPiece(middle + 1, last)
    }
    for (const { args, blockNumber, logIndex } of logs) {
      if (!watched.has(args.to?.toLowerCase() ?? '')) continue
      heights.add(blockNumber)
      found.keys.add(`${blockNumber}/${logIndex}`)
    }
  }
  const pieces = Array.from(
    { length: Math.ceil((to - from + 1) / blocksMax) },
    (_, place) => from + place * blocksMax,
  )
  await mapBounded(pieces, atOnce, (first) => readPiece(first, Math.min(to, first + blocksMax - 1)))
  const times = await mapBounded([...heights], atOnce * batch.batchSize, async (blockNumber) => {
    const { timestamp } = await getBlock(batching, { blockNumber })
    return timestamp
  })
  if (times.length !== heights.size) throw new Error('a block has no time')
  return found
}

/** Holds a fetch back while so many are under way. */
function fetchAtOnce(atOnce: number): typeof fetch {
  const waiting: (() => void)[] = []
  let underWay = 0
  return async (...request) => {
    if (underWay >= atOnce) await new Promise<void>((start) => void waiting.push(start))
    underWay++
    try {
      const response = await fetch(...request)
      const body = await response.arrayBuffer()
      return new Response(body, response)
    } finally {
      underWay--
      waiting.shift()?.()
    }
  }
}

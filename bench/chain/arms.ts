import { createClient, type Hex, http, parseAbiItem } from 'viem'
import { getBlock, getLogs } from 'viem/actions'
import { createEvmReader } from '../../src/chain/evm/reader.ts'
import { defaultBounds } from '../../src/chain/options.ts'
import type { ScanCursor } from '../../src/chain/port.ts'
import { type Address, assetKey, type NetworkName } from '../../src/core/asset.ts'
import type { ScriptedChain } from '../../test/support/scripted-evm-chain.ts'
import { scriptedChainId } from '../../test/support/scripted-evm-node.ts'

/** What reads the chain in B6, and what the target is held against. */
export const arms = {
  ours: 'depositd: limits found by itself, every answer proved, quota waited for',
  bare: 'viem: getLogs over the limit it is told, getBlock for the times, the same requests at once',
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

/** What many write first. It is told the limits, proves nothing, and cuts a query in half where it is refused. */
export async function readBare({ url, chain, blocksMax, from, to }: Reading, atOnce: number): Promise<Found> {
  const batch = { batchSize: defaultBounds.requestsPerBatch }
  const transport = http(url, {
    batch,
    retryCount: 8,
    retryDelay: 100,
    timeout: 60_000,
    fetchFn: fetchAtOnce(atOnce),
  })
  const client = createClient({ transport })
  const watched: ReadonlySet<string> = new Set(chain.watched)
  const found: Found = { keys: new Set(), heapBytes: [] }
  const times = new Map<bigint, bigint>()
  const readPiece = async (first: number, last: number): Promise<void> => {
    const range = { fromBlock: BigInt(first), toBlock: BigInt(last) }
    const logs = await getLogs(client, {
      address: chain.token as string as Hex,
      event: transferEvent,
      ...range,
    }).catch(() => null)
    if (logs === null) {
      const middle = Math.floor((first + last) / 2)
      await readPiece(first, middle)
      return readPiece(middle + 1, last)
    }
    const ours = logs.filter(({ args }) => watched.has(args.to?.toLowerCase() ?? ''))
    const heights = [...new Set(ours.map(({ blockNumber }) => blockNumber))]
    await Promise.all(
      heights.map(async (blockNumber) =>
        times.set(blockNumber, (await getBlock(client, { blockNumber })).timestamp),
      ),
    )
    for (const { blockNumber, logIndex } of ours) found.keys.add(`${blockNumber}/${logIndex}`)
  }
  let next = from
  const lane = async () => {
    while (next <= to) {
      const first = next
      next += blocksMax
      await readPiece(first, Math.min(to, first + blocksMax - 1))
    }
  }
  // More lanes than requests, so that there is always one to send.
  await Promise.all(Array.from({ length: atOnce }, lane))
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

function heapBytes(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

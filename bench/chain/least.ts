import { defaultBounds } from '../../src/chain/options.ts'
import type { ScriptedChain } from '../../test/support/scripted-evm-chain.ts'

export type Limits = { blocksMax: number; resultsMax: number }

/** What who knows the chain and the limits beforehand would ask for. */
export type Least = { logQueries: number; requests: number }

/**
 * The fewest queries for the whole contract, each as wide as the limits allow; one header for each block with a
 * transfer to a watched address, for its time and its hash, in full requests; the chain id, the head and the final
 * block.
 */
export function leastRequests(chain: ScriptedChain, { blocksMax, resultsMax }: Limits): Least {
  const logs = logsAt(chain)
  let logQueries = 0
  let blocks = blocksMax
  let results = 0
  for (let height = 1; height < chain.blocks; height++) {
    const more = logs[height] ?? 0
    if (blocks === blocksMax || results + more > resultsMax) {
      logQueries++
      blocks = 0
      results = 0
    }
    blocks++
    results += more
  }
  const headers = new Set(chain.transfers.map(({ height }) => height)).size
  return { logQueries, requests: logQueries + Math.ceil(headers / defaultBounds.requestsPerBatch) + 3 }
}

function logsAt(chain: ScriptedChain): Uint32Array {
  const all = chain.logs({
    fromBlock: '0x0',
    toBlock: `0x${chain.blocks.toString(16)}`,
    address: chain.token as `0x${string}`,
    topics: [],
  })
  const counts = new Uint32Array(chain.blocks)
  for (const log of all) {
    const height = Number((JSON.parse(log) as { blockNumber: string }).blockNumber)
    counts[height] = (counts[height] ?? 0) + 1
  }
  return counts
}

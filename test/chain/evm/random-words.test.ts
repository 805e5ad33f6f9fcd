import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import type { ReaderOptions } from '../../../src/chain/options.ts'
import type { ChainReader } from '../../../src/chain/types.ts'
import { assetKey } from '../../../src/core/asset.ts'
import { base, drain } from '../../support/evm-watch.ts'
import { type ScriptedChain, scriptedChain, seededRandom } from '../../support/scripted-evm-chain.ts'
import {
  behavesWell,
  type Refusal,
  type ScriptedEvmNode,
  scriptedChainId,
  startScriptedEvmNode,
} from '../../support/scripted-evm-node.ts'

const blocks = 1000
/** `SEEDS=200 npx vitest run test/chain/evm/random-words.test.ts` is what docs/chains.md states. */
const seeds = Array.from({ length: Number(process.env.SEEDS ?? 30) }, (_, seed) => seed)
const msPerSeed = 3000

let chain: ScriptedChain
let node: ScriptedEvmNode
let next: ScriptedEvmNode

beforeAll(async () => {
  chain = scriptedChain({ seed: 20, blocks, addresses: 40, transfers: 80, others: 40 })
  node = await startScriptedEvmNode(chain)
  next = await startScriptedEvmNode(chain)
})
afterAll(async () => {
  await node.stop()
  await next.stop()
})

function readerOf(urls: readonly string[], bounds: ReaderOptions['bounds'] = {}): ChainReader {
  const asset = { key: assetKey(base, chain.token), network: base, symbol: 'USDC', decimals: 6 }
  return createEvmReader(
    { name: base, family: 'evm', chainId: scriptedChainId, rpcUrls: [...urls], assets: [asset] },
    { bounds },
  )
}

const watched = () => new Set(chain.watched)

/** Letters that no list of known words holds. */
function sentence(random: () => number): string {
  const word = () =>
    Array.from({ length: 2 + Math.floor(random() * 9) }, () =>
      String.fromCharCode(97 + Math.floor(random() * 26)),
    ).join('')
  return Array.from({ length: 1 + Math.floor(random() * 14) }, () =>
    random() < 0.1 ? `${Math.floor(random() * 100_000)}` : word(),
  ).join(' ')
}

function refusalOf(random: () => number): Refusal {
  const page = { page: `<html>${sentence(random)}</html>` }
  const kind = Math.floor(random() * 50)
  if (kind <= 4) return { status: 413, ...page }
  if (kind <= 8) return { status: 504, ...page }
  if (kind <= 12) return { status: 400, ...page }
  return { error: { code: -32_000 - Math.floor(random() * 100), message: sentence(random) } }
}

function keysOf(
  transfers: readonly { height: bigint | number; index?: string; logIndex?: number }[],
): string[] {
  return transfers.map(({ height, index, logIndex }) => `${height}/${index ?? logIndex}`).toSorted()
}

/** Log queries that reading the whole chain took. */
async function queriesOf(reader: ChainReader): Promise<{ queries: number; found: string[] }> {
  node.asked.clear()
  const { transfers } = await drain(reader, watched(), { cursor: null, startHeight: 1n })
  return { queries: node.asked.get('eth_getLogs') ?? 0, found: keysOf(transfers) }
}

test(
  'of a node that refuses wide ranges in random words nothing is lost, and few queries are wasted',
  async () => {
    const measured: { seed: number; wasted: number; share: number }[] = []
    for (const seed of seeds) {
      // Seeds that are close together begin alike.
      const random = seededRandom(Math.imul(seed + 1, 0x9e37_79b1))
      // As many narrow limits as wide ones.
      const blocksMax = Math.floor(10 * (blocks / 10) ** random())
      const refusal = refusalOf(random)
      Object.assign(node.behaviour, behavesWell(chain), { blocksMax, refusal })
      const reader = readerOf([node.url])
      const reported = `seed ${seed}: at most ${blocksMax} blocks, else ${JSON.stringify(refusal)}`
      const first = await queriesOf(reader)
      expect(first.found, reported).toEqual(keysOf(chain.transfers))
      const learned = await queriesOf(reader)
      expect(learned.found, reported).toEqual(keysOf(chain.transfers))
      const least = Math.ceil((blocks - 1) / blocksMax)
      expect(learned.queries, reported).toBeLessThanOrEqual(3 * least)
      measured.push({ seed, wasted: first.queries - learned.queries, share: learned.queries / least })
    }
    const wasted = measured.map((one) => one.wasted).toSorted((one, other) => one - other)
    const shares = measured.map((one) => one.share).toSorted((one, other) => one - other)
    const middle = Math.floor(seeds.length / 2)
    process.stdout.write(
      `seeds 0 to ${seeds.length - 1}: to learn a limit took ${wasted[middle]} queries more in the median and ${wasted.at(-1)} at most; ` +
        `once learned, ${shares[middle]?.toFixed(2)} times the least in the median and ${shares.at(-1)?.toFixed(2)} at most\n`,
    )
    // Halving 1,000 blocks takes 10, one block is asked for before, and a piece ends at each half.
    expect(wasted.at(-1)).toBeLessThanOrEqual(24)
  },
  60_000 + seeds.length * msPerSeed,
)

describe('a node that fails, whatever it is asked', () => {
  const failing: readonly [string, Refusal, number][] = [
    ['random words', { error: { code: -32_077, message: 'zorp bliv 17 marn' } }, 2],
    ['a gateway that waits in vain', { status: 504, page: '<html>timeout</html>' }, 2],
    ['no answer in time', 'hangs', 2],
    ['a quota', { error: { code: -32_005, message: 'daily request count exceeded' } }, 1],
    ['a wrong key', { error: { code: -32_000, message: 'invalid api key' } }, 1],
    ['a status that forbids', { status: 403, page: 'no' }, 1],
  ]
  test.each(failing)('by %s gives way to the next after few queries', async (_how, refusal, queries) => {
    Object.assign(node.behaviour, behavesWell(chain), { blocksMax: 0, refusal })
    node.asked.clear()
    const reader = readerOf([node.url, next.url], { timeoutMs: 3000, quotaWaitMs: 0, triesMax: 1 })
    const { transfers } = await drain(reader, watched(), { cursor: null, startHeight: 1n })
    expect(keysOf(transfers)).toEqual(keysOf(chain.transfers))
    expect(node.asked.get('eth_getLogs')).toBe(queries)
  })

  test('is asked for as much as before once it is well', async () => {
    Object.assign(node.behaviour, behavesWell(chain))
    const reader = readerOf([node.url])
    const { queries } = await queriesOf(reader)
    const refusal: Refusal = { error: { code: -32_077, message: 'zorp bliv 17 marn' } }
    Object.assign(node.behaviour, { blocksMax: 0, refusal })
    const request = { cursor: null, startHeight: 1n, watched: watched() }
    await expect(reader.scan(request)).rejects.toThrow(/logs of 1\.\.1.*zorp bliv 17 marn/)
    Object.assign(node.behaviour, behavesWell(chain))
    expect((await queriesOf(reader)).queries).toBe(queries)
  })
})

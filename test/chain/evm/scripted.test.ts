import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import type { ReaderOptions } from '../../../src/chain/options.ts'
import type { ChainReader, ScanCursor } from '../../../src/chain/types.ts'
import { assetKey } from '../../../src/core/asset.ts'
import { base, drain } from '../../support/evm-watch.ts'
import { type ScriptedChain, scriptedChain } from '../../support/scripted-evm-chain.ts'
import {
  type Behaviour,
  behavesWell,
  type ScriptedEvmNode,
  scriptedChainId,
  startScriptedEvmNode,
} from '../../support/scripted-evm-node.ts'

const settings = { seed: 20_261_121, blocks: 4000, addresses: 1200, transfers: 1500, others: 600 }

let chain: ScriptedChain
let node: ScriptedEvmNode

beforeAll(async () => {
  chain = scriptedChain(settings)
  node = await startScriptedEvmNode(chain)
})
afterAll(() => node.stop())
beforeEach(() => behave({}))

/** All else is as it should be. */
function behave(changes: Partial<Behaviour>): void {
  Object.assign(node.behaviour, behavesWell(chain), changes)
  node.asked.clear()
}

function readerOf(options: ReaderOptions = {}): ChainReader {
  const asset = { key: assetKey(base, chain.token), network: base, symbol: 'USDC', decimals: 6 }
  return createEvmReader(
    { name: base, family: 'evm', chainId: scriptedChainId, rpcUrls: [node.url], assets: [asset] },
    options,
  )
}

const fromStart = { cursor: null, startHeight: 1n }
const everybody = () => new Set(chain.watched)

function keysOf(
  transfers: readonly { height: bigint | number; index?: string; logIndex?: number }[],
): string[] {
  const keys = transfers.map(({ height, index, logIndex }) => `${height}/${index ?? logIndex}`)
  // Near the head logs are read a second time.
  return [...new Set(keys)].toSorted()
}

async function expectAll(reader: ChainReader): Promise<void> {
  const { transfers, cursor } = await drain(reader, everybody(), fromStart)
  expect(keysOf(transfers)).toEqual(keysOf(chain.transfers))
  expect(transfers.every(({ stage }) => stage === 'final')).toBe(true)
  expect(cursor.final).toEqual({ height: BigInt(chain.blocks - 1), hash: chain.hashOf(chain.blocks - 1) })
}

test('quota errors slow down, and lose neither the place nor a transfer', async () => {
  behave({ blocksMax: 100, quotaPercent: 5 })
  await expectAll(readerOf())
  expect(node.requests.refused).toBeGreaterThan(0)
}, 60_000)

test('a contract that is quiet is read whole, however many watch it', async () => {
  behave({ blocksMax: 500 })
  await expectAll(readerOf({ bounds: { recipientsPerRequest: 100 } }))
  // Nine pieces, and few to find the way. By recipients each piece would be so many that no slow answer makes that cheaper.
  expect(node.asked.get('eth_getLogs')).toBeLessThan(15)
})

test('a scan that finds nothing new asks for the head, the final block and the one it stands at, and no more', async () => {
  const reader = readerOf()
  const { cursor } = await drain(reader, everybody(), fromStart)
  behave({})
  const result = await reader.scan({ cursor, startHeight: 1n, watched: everybody() })
  expect(result).toMatchObject({ transfers: [], proved: [], more: false })
  expect(node.asked).toEqual(new Map([['eth_getBlockByNumber', 3]]))
})

test('whole contracts are measured and read on in one scan', async () => {
  const result = await readerOf().scan({ ...fromStart, watched: everybody() })
  expect(result).toMatchObject({ more: false, cursor: { final: { height: BigInt(chain.blocks - 1) } } })
})

describe('without moving the cursor', () => {
  let start: ScanCursor
  beforeEach(async () => {
    behave({ head: 2000, final: 2000 })
    start = (await drain(readerOf(), everybody(), { cursor: null })).cursor
  })

  const scan = (options?: ReaderOptions) =>
    readerOf(options).scan({ cursor: start, startHeight: null, watched: everybody() })

  test.each<[Behaviour['lie'], RegExp]>([
    ['removed_log', /marked as removed/],
    ['foreign_hash', /is not the one/],
    ['wrong_chain', /expected chain id 8453, found 1/],
  ])('a node with the lie %s is refused', async (lie, problem) => {
    behave({ lie })
    await expect(scan()).rejects.toThrow(problem)
  })

  test('finality that stalls, or goes back, is waited for', async () => {
    behave({ head: 2100, final: 2000 })
    const stalled = await scan()
    expect(stalled.cursor.final).toEqual(start.final)
    expect(stalled.proved).toEqual([])
    expect(stalled.transfers.every(({ stage }) => stage === 'seen')).toBe(true)
    behave({ head: 2100, final: 1900 })
    const back = await scan()
    expect(back.cursor.final).toEqual(start.final)
    expect(back.rewoundTo).toBeNull()
  })
})

test('after one long scan, history that changes is walked back about to where it changed', async () => {
  behave({ head: 3000, final: 3000 })
  const { cursor } = await drain(readerOf(), everybody(), fromStart)
  chain.replace(2990)
  behave({ head: 3100, final: 3100 })
  const after = await drain(readerOf(), everybody(), { cursor })
  expect(after.rewinds).toEqual([2987n])
  const replaced = chain.transfers.filter(({ height }) => height > 2987 && height <= 3100)
  expect(keysOf(after.transfers)).toEqual(expect.arrayContaining(keysOf(replaced)))
})

test('history that changes below the final block is walked back, and read again', async () => {
  behave({ head: 2000, final: 2000 })
  const before = await drain(readerOf(), everybody(), { cursor: null, startHeight: 1990n })
  behave({ head: 2010, final: 2010 })
  const onwards = await drain(readerOf(), everybody(), { cursor: before.cursor })
  chain.replace(1998)
  behave({ head: 2100, final: 2100 })
  const after = await drain(readerOf(), everybody(), { cursor: onwards.cursor })
  expect(after.rewinds).toEqual([1989n])
  const replaced = chain.transfers.filter(({ height }) => height > 1989 && height <= 2100)
  expect(keysOf(after.transfers)).toEqual(keysOf(replaced))
  expect(after.cursor.final.hash).toBe(chain.hashOf(2100))
})

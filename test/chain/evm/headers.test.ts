import { afterAll, beforeAll, expect, test } from 'vitest'
import { HeaderQueue } from '../../../src/chain/evm/headers.ts'
import { openNode, watchOf } from '../../../src/chain/evm/node.ts'
import { connections, defaultBounds } from '../../../src/chain/options.ts'
import { evmSettings } from '../../support/evm-watch.ts'
import { scriptedChain } from '../../support/scripted-evm-chain.ts'
import {
  type ScriptedEvmNode,
  scriptedChainId,
  startScriptedEvmNode,
} from '../../support/scripted-evm-node.ts'

const chain = scriptedChain({ seed: 3, blocks: 3000, addresses: 1, transfers: 0, others: 0 })

let node: ScriptedEvmNode

beforeAll(async () => {
  node = await startScriptedEvmNode(chain)
})
afterAll(() => node.stop())

function open() {
  const settings = evmSettings({ url: node.url, chainId: scriptedChainId }, { tokens: [], native: false })
  const [connection] = connections(settings, {})
  if (connection === undefined) throw new Error('no connection')
  const scan = { node: openNode(connection), watch: watchOf(settings, new Set()), bounds: defaultBounds }
  node.requests.answered = 0
  return new HeaderQueue(scan)
}

test('headers wait until a request is full, or until they are to be sent', async () => {
  const headers = open()
  const first = Array.from({ length: 15 }, (_, height) => headers.read(BigInt(height)))
  expect(headers.length).toBe(15)
  const rest = Array.from({ length: 10 }, (_, more) => headers.read(BigInt(15 + more)))
  headers.flush()
  const blocks = await Promise.all([...first, ...rest])
  expect(blocks.map(({ height }) => height)).toEqual(
    Array.from({ length: 25 }, (_, height) => BigInt(height)),
  )
  expect(node.requests.answered).toBe(2)
  expect(headers.length).toBe(0)
})

test('however many are asked for, requests are full', async () => {
  const headers = open()
  const blocks = Array.from({ length: 2990 }, (_, height) => headers.read(BigInt(height)))
  headers.flush()
  await Promise.all(blocks)
  expect(node.requests.answered).toBe(150)
})

test('a header that is refused fails alone, and keeps none waiting', async () => {
  const headers = open()
  const reading = [1n, 5000n, 2n].map((height) => headers.read(height))
  headers.flush()
  const settled = await Promise.allSettled(reading)
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
})

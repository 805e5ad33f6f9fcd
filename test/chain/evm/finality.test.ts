import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Finality } from '../../../src/chain/evm/node.ts'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import { defaultReading } from '../../../src/chain/options.ts'
import type { ChainReader, ScanCursor } from '../../../src/chain/types.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { addresses, drain, evmSettings } from '../../support/evm-watch.ts'
import { type Answer, type RpcProxy, type Script, startRpcProxy } from '../../support/rpc-proxy.ts'

const depositor = '0x00000000000000000000000000000000000A11cE'
const watched = addresses(depositor)

let anvil: Anvil
let proxy: RpcProxy
let start: ScanCursor

beforeAll(async () => {
  anvil = await startAnvil()
  proxy = await startRpcProxy(anvil.url)
})
afterAll(async () => {
  await proxy.stop()
  await anvil.stop()
})
beforeEach(async () => {
  await anvil.mine(4)
  start = (await drain(reader(), watched, { cursor: null })).cursor
})
afterEach(() => proxy.behave())

function reader(finality: Finality = defaultReading.finality): ChainReader {
  const settings = evmSettings({ ...anvil, url: proxy.url }, { tokens: [] })
  return createEvmReader({ ...settings, reading: { ...defaultReading, finality } })
}

/** The node answers so where it is asked for that tag. */
const answersTag =
  (tag: string, answer: Answer): Script =>
  ({ method, params }, forward) =>
    method === 'eth_getBlockByNumber' && params[0] === tag ? answer : forward()

test.each<[string, Finality, bigint]>([
  ['the tag finalized', { kind: 'tag', tag: 'finalized' }, 2n],
  ['the tag safe', { kind: 'tag', tag: 'safe' }, 1n],
  ['a depth', { kind: 'depth', blocks: 5 }, 5n],
  ['no depth', { kind: 'depth', blocks: 0 }, 0n],
])('by %s, what is final ends so far below the head', async (_rule, finality, below) => {
  const head = await anvil.client.getBlockNumber()
  const { cursor } = await drain(reader(finality), watched, { cursor: null })
  expect(cursor.final.height).toBe(head - below)
})

test('by a depth that the chain does not have yet, only its first block is final', async () => {
  const { cursor } = await drain(reader({ kind: 'depth', blocks: 1_000_000 }), watched, { cursor: null })
  expect(cursor.final.height).toBe(0n)
})

test.each<[string, Answer]>([
  ['null', { result: null }],
  ['the error of go-ethereum', { error: { code: -39_001, message: 'finalized block not found' } }],
])('a node that knows of nothing final yet, said by %s, is waited for', async (_how, answer) => {
  await anvil.client.sendTransaction({ to: depositor, value: 5n })
  await anvil.mine(4)
  proxy.behave(answersTag('finalized', answer))
  const waiting = await drain(reader(), watched, { cursor: start })
  expect(waiting.cursor.final).toEqual(start.final)
  expect(waiting.transfers.map(({ stage }) => stage)).toEqual(['seen'])
  await expect(drain(reader(), watched, { cursor: null })).rejects.toThrow(/block finalized.*has none yet/)
  proxy.behave()
  const later = await drain(reader(), watched, { cursor: waiting.cursor })
  expect(later.transfers.map(({ stage }) => stage)).toEqual(['final'])
})

test.each([
  [-32_602, 'invalid argument 0: hex string without 0x prefix'],
  [-32_602, 'Invalid params'],
  [-32_000, 'unknown variant `finalized`, expected one of `latest`, `earliest`'],
  [-32_000, 'block tag finalized is not supported'],
])('a node that does not know the tag (%i, %s) is named with the setting', async (code, message) => {
  proxy.behave(answersTag('finalized', { error: { code, message } }))
  const named = /does not support the block tag finalized \(setting networks: base: finality\)/
  await expect(drain(reader(), watched, { cursor: start })).rejects.toThrow(named)
  await expect(reader().checkIdentity()).rejects.toThrow(named)
  await expect(reader({ kind: 'tag', tag: 'safe' }).checkIdentity()).resolves.toBeUndefined()
})

test('what is called final above the head is read once the head is there, and not asked for again and again', async () => {
  await anvil.client.sendTransaction({ to: depositor, value: 5n })
  await anvil.mine(6)
  const head = (await anvil.client.getBlockNumber()) - 4n
  const asked = [`0x${head.toString(16)}`, false]
  const lagging = await anvil.client.request({ method: 'eth_getBlockByNumber', params: asked } as never)
  proxy.behave(answersTag('latest', { result: lagging }))
  const behind = await reader().scan({ cursor: start, startHeight: null, watched })
  expect(behind).toMatchObject({ more: false, headHeight: head, cursor: { final: { height: head } } })
  proxy.behave()
  const { cursor } = await drain(reader(), watched, { cursor: behind.cursor })
  expect(cursor.final.height).toBeGreaterThan(head)
})

test('a node that fails is not taken for one without the tag', async () => {
  proxy.behave(answersTag('finalized', { status: 503, error: { code: -32_000, message: 'overloaded' } }))
  await expect(drain(reader(), watched, { cursor: start })).rejects.not.toThrow(/setting/)
})

test('blocks that were final are not told as merely seen while finality is back', async () => {
  await anvil.client.sendTransaction({ to: depositor, value: 5n })
  await anvil.mine(3)
  const { cursor } = await drain(reader(), watched, { cursor: start })
  const lower = `0x${(cursor.final.height - 3n).toString(16)}`
  const back = await anvil.client.request({ method: 'eth_getBlockByNumber', params: [lower, false] } as never)
  proxy.behave(answersTag('finalized', { result: back }))
  const later = await drain(reader(), watched, { cursor })
  expect(later).toEqual({ transfers: [], cursor, rewinds: [] })
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { addresses, type Drained, drain, evmSettings } from '../../support/evm-watch.ts'
import { type RpcProxy, type Script, startRpcProxy } from '../../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'

const depositor = '0x00000000000000000000000000000000000A11cE'
const watched = addresses(depositor)

let anvil: Anvil
let token: TestToken
let proxy: RpcProxy

beforeAll(async () => {
  anvil = await startAnvil()
  token = await deployToken(anvil, 'USDC')
  proxy = await startRpcProxy(anvil.url)
  // Where a stretch ends that is read again.
  await anvil.mine(64 - Number((await anvil.client.getBlockNumber()) % 64n))
})
afterAll(async () => {
  await proxy.stop()
  await anvil.stop()
})

/** Lacks the logs, and the filter that would betray it: as a node does that has a block and not yet its receipts. */
const lacksReceipts: Script = async ({ method }, forward) => {
  if (method === 'eth_getLogs') return { result: [] }
  const { result } = await forward()
  return method === 'eth_getBlockByNumber'
    ? { result: { ...(result as object), logsBloom: `0x${'0'.repeat(512)}` } }
    : { result }
}

test('a transfer that a node left out near its head is found when the head has moved on', async () => {
  const settings = evmSettings({ ...anvil, url: proxy.url }, { tokens: [token.address], native: false })
  const reader = createEvmReader(settings)
  let read = await drain(reader, watched, { cursor: null })
  const later: Drained['transfers'] = []
  const readOn = async (blocks: number) => {
    await anvil.mine(blocks)
    read = await drain(reader, watched, { cursor: read.cursor })
    later.push(...read.transfers.filter(({ stage }) => stage === 'final'))
  }
  await readOn(5)
  const tx = await token.send(depositor, 5n)
  proxy.behave(lacksReceipts)
  await readOn(5)
  expect(later).toEqual([])
  proxy.behave()
  for (let block = 0; block < 200; block += 10) await readOn(10)
  expect(later.map((transfer) => [transfer.tx, transfer.amount])).toEqual([
    [tx, 5n],
    [tx, 5n],
  ])
  const [first] = later
  expect(first?.height).toBeLessThan(read.cursor.final.height - 128n)
})

test('a scan that has no time ends no lower than it began, whatever it reads again', async () => {
  const settings = evmSettings(anvil, { tokens: [token.address], native: false })
  const start = (await drain(createEvmReader(settings), watched, { cursor: null })).cursor
  await anvil.mine(30)
  let { cursor } = await drain(createEvmReader(settings), watched, { cursor: start })
  await anvil.mine(70)
  const hurried = createEvmReader(settings, { bounds: { scanMs: 0, logsPerAnswerMax: 1_000_000 } })
  for (let more = true; more; ) {
    const result = await hurried.scan({ cursor, startHeight: null, watched })
    expect(result.cursor.final.height).toBeGreaterThan(cursor.final.height)
    cursor = result.cursor
    more = result.more
  }
})

test('where several nodes must agree nothing is read again, for they may take other steps', async () => {
  const reader = createEvmReader(evmSettings(anvil, { tokens: [token.address], native: false }))
  const { cursor } = await drain(reader, watched, { cursor: null })
  await token.send(depositor, 9n)
  await anvil.mine(10)
  const once = await reader.scan({ cursor, startHeight: null, watched })
  expect(once.transfers).toHaveLength(1)
  await anvil.mine(70)
  const request = { cursor: once.cursor, startHeight: null, watched }
  expect((await reader.scan(request)).transfers).toHaveLength(1)
  const finalMax = await anvil.client.getBlockNumber()
  expect((await reader.scan({ ...request, finalMax })).transfers).toEqual([])
})

test('what lies below where reading began is not read', async () => {
  await anvil.mine(60 - Number((await anvil.client.getBlockNumber()) % 64n))
  await token.send(depositor, 7n)
  await anvil.mine(4)
  const reader = createEvmReader(evmSettings(anvil, { tokens: [token.address], native: false }))
  const start = await drain(reader, watched, { cursor: null })
  await anvil.mine(70)
  const { transfers } = await drain(reader, watched, { cursor: start.cursor })
  expect(transfers).toEqual([])
})

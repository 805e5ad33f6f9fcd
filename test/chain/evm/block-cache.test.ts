import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import type { FullChainReader } from '../../../src/chain/types.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { addresses, drain, evmSettings } from '../../support/evm-watch.ts'
import { type RpcProxy, startRpcProxy } from '../../support/rpc-proxy.ts'

const depositor = '0x00000000000000000000000000000000000A11cE'
const later = '0x0000000000000000000000000000000000000b0b'

let anvil: Anvil
let proxy: RpcProxy
let reader: FullChainReader

beforeAll(async () => {
  anvil = await startAnvil()
  proxy = await startRpcProxy(anvil.url)
})
afterAll(async () => {
  await proxy.stop()
  await anvil.stop()
})
beforeEach(async () => {
  reader = createEvmReader(evmSettings({ ...anvil, url: proxy.url }, { tokens: [] }))
  await anvil.mine(4)
})

/** Blocks that were fetched with their transactions. */
const fetched = () =>
  proxy.calls.filter(({ method, params }) => method === 'eth_getBlockByNumber' && params[1] === true).length

test('blocks that were read while they could still vanish are not fetched again once they are final', async () => {
  const watched = addresses(depositor)
  let { cursor } = await drain(reader, watched, { cursor: null })
  const before = await anvil.client.getBlockNumber()
  proxy.calls.length = 0
  const amounts: bigint[] = []
  const scans = 12
  for (let scan = 1; scan <= scans; scan++) {
    await anvil.client.sendTransaction({ to: depositor, value: BigInt(scan) })
    await anvil.mine(5)
    const read = await drain(reader, watched, { cursor })
    amounts.push(...read.transfers.filter(({ stage }) => stage === 'final').map(({ amount }) => amount))
    cursor = read.cursor
  }
  const blocks = Number((await anvil.client.getBlockNumber()) - before)
  expect(amounts).toEqual(Array.from({ length: scans }, (_, scan) => BigInt(scan + 1)))
  // Once each, those above the cursor at the start, and the highest of each final part.
  expect(fetched()).toBeLessThanOrEqual(blocks + 2 + scans)
})

test('a payment to an address that was added meanwhile is found in a block that was read before', async () => {
  const { cursor } = await drain(reader, addresses(depositor), { cursor: null })
  await anvil.client.sendTransaction({ to: later, value: 7n })
  await anvil.mine(1)
  const seen = await drain(reader, addresses(depositor), { cursor })
  expect(seen.transfers).toEqual([])
  await anvil.mine(6)
  const both = await drain(reader, addresses(depositor, later), { cursor: seen.cursor })
  expect(both.transfers.filter(({ stage }) => stage === 'final')).toMatchObject([{ amount: 7n }])
})

test('a block that was replaced since it was read is fetched again', async () => {
  const watched = addresses(depositor)
  const { cursor } = await drain(reader, watched, { cursor: null })
  const snapshot = await anvil.client.request({ method: 'evm_snapshot' } as never)
  await anvil.client.sendTransaction({ to: depositor, value: 3n })
  await anvil.mine(1)
  const seen = await drain(reader, watched, { cursor })
  expect(seen.transfers).toMatchObject([{ stage: 'seen', amount: 3n }])
  await anvil.client.request({ method: 'evm_revert', params: [snapshot] } as never)
  await anvil.client.sendTransaction({ to: depositor, value: 4n })
  await anvil.mine(6)
  const { transfers } = await drain(reader, watched, { cursor: seen.cursor })
  expect(transfers.filter(({ stage }) => stage === 'final')).toMatchObject([{ amount: 4n }])
})

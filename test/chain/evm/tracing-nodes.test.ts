import { numberToHex } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import { addresses, drain, evmSettings } from '../../support/evm-watch.ts'
import { changes } from '../../support/rpc-proxy.ts'
import { asData } from '../../support/small-contracts.ts'
import { alice, lacks, startTracedChain, type TracedChain } from '../../support/traced-chain.ts'

const tracesNothing = lacks('debug_traceBlockByNumber', 'trace_block')

let chain: TracedChain

beforeAll(async () => {
  chain = await startTracedChain()
})
afterAll(() => chain.stop())
afterEach(() => chain.proxy.behave())

test('with traces always, a node that offers none is refused, at the start and by each scan', async () => {
  chain.proxy.behave(tracesNothing)
  const reader = chain.reader({ reading: { traces: 'always' } })
  await expect(reader.checkIdentity()).rejects.toThrow(
    /settings_bad.*base: traces: always requires debug_traceBlockByNumber or trace_block/,
  )
  const { cursor } = await drain(chain.reader(), addresses(alice), { cursor: null })
  await chain.inBlock(() => chain.pay(alice, 1n))
  await expect(drain(reader, addresses(alice), { cursor })).rejects.toThrow(
    'the node supports neither debug_',
  )
})

test('where no node traces, a stretch is read without; where one does, that one reads it', async () => {
  const range = await chain.inBlock(
    () => chain.pay(alice, 3n),
    () => chain.pay(chain.forwarder, 5n, asData(alice)),
  )
  chain.proxy.behave(tracesNothing)
  expect((await chain.readTraced(range)).transfers.map(({ amount }) => amount)).toEqual([3n])
  const reader = chain.reader({ urls: [chain.proxy.url, chain.anvil.url] })
  const both = await reader.readRange({ ...range, watched: addresses(alice), traced: true })
  expect(both.transfers.map(({ amount }) => amount)).toEqual([3n, 5n])
  // The one that does not trace has failed in nothing, and stays preferred.
  chain.proxy.calls.length = 0
  await reader.heightAt(new Date())
  expect(chain.proxy.calls).not.toEqual([])
})

test('fewer tracing nodes than must agree are not enough for what they find', async () => {
  const range = await chain.inBlock(
    () => chain.pay(alice, 3n),
    () => chain.pay(chain.forwarder, 5n, asData(alice)),
  )
  const two = { urls: [chain.proxy.url, chain.anvil.url], reading: { quorum: 2 } }
  expect((await chain.readTraced(range, two)).transfers.map(({ amount }) => amount)).toEqual([3n, 5n])
  chain.proxy.behave(tracesNothing)
  expect((await chain.readTraced(range, two)).transfers.map(({ amount }) => amount)).toEqual([3n])
})

test('a node is asked once what it offers', async () => {
  const range = await chain.inBlock(() => chain.pay(chain.forwarder, 5n, asData(alice)))
  const reader = chain.reader()
  const request = { ...range, watched: addresses(alice), traced: true }
  await reader.readRange(request)
  chain.proxy.calls.length = 0
  await reader.readRange(request)
  const asked = chain.proxy.calls.filter(({ method }) => method.includes('trace'))
  expect(asked.map(({ params }) => params[0])).toEqual([numberToHex(range.from)])
})

test('a stretch that is traced is read in shorter pieces', async () => {
  const head = await chain.anvil.client.getBlockNumber()
  const settings = evmSettings(chain.anvil, { tokens: [] })
  const reader = createEvmReader(settings, { bounds: { tracesPerReading: 2n } })
  const range = { from: head - 6n, to: head - 2n, watched: addresses(alice) }
  expect((await reader.readRange({ ...range, traced: true })).reached).toBe(head - 5n)
  expect((await reader.readRange(range)).reached).toBe(head - 2n)
})

test('traces of fewer transactions are refused', async () => {
  const range = await chain.inBlock(() => chain.pay(chain.forwarder, 5n, asData(alice)))
  chain.proxy.behave(changes('debug_traceBlockByNumber', (traces) => (traces as object[]).slice(1)))
  await expect(chain.readTraced(range)).rejects.toThrow('they belong to another block')
})

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { RangeResult } from '../../../src/chain/types.ts'
import { addresses, drain } from '../../support/evm-watch.ts'
import { changes } from '../../support/rpc-proxy.ts'
import { asData, leaverCode, placeCode, regretterCode, withdrawData } from '../../support/small-contracts.ts'
import { alice, lacks, startTracedChain, type TracedChain } from '../../support/traced-chain.ts'

let chain: TracedChain

beforeAll(async () => {
  chain = await startTracedChain()
})
afterAll(() => chain.stop())
afterEach(() => chain.proxy.behave())

const brief = ({ transfers }: Pick<RangeResult, 'transfers'>) =>
  transfers.map(({ index, from, amount }) => [index, from, amount])

test.each([
  ['debug_traceBlockByNumber', 'trace_block'],
  ['trace_block', 'debug_traceBlockByNumber'],
])('what a contract pays is found by %s, and not without traces', async (_offered, lacking) => {
  chain.proxy.behave(lacks(lacking))
  const range = await chain.inBlock(
    () => chain.pay(alice, 3n),
    () => chain.pay(chain.forwarder, 5n, asData(alice)),
  )
  const untraced = await chain.reader().readRange({ ...range, watched: addresses(alice) })
  expect(untraced.transfers.map(({ index, amount }) => [index, amount])).toEqual([['native', 3n]])
  const traced = await chain.readTraced(range)
  const { hash, timestamp } = await chain.anvil.client.getBlock({ blockNumber: range.from })
  expect(traced.transfers).toEqual([
    ...untraced.transfers,
    {
      network: 'base',
      tx: range.txs[1],
      index: 'trace:0',
      asset: 'base/native',
      from: chain.forwarder,
      to: alice,
      amount: 5n,
      height: range.from,
      blockHash: hash,
      blockAt: new Date(Number(timestamp) * 1000),
    },
  ])
  expect(traced.proved).toEqual([{ from: range.from, to: range.to }])
})

test.each([['debug_traceBlockByNumber'], ['trace_block']])(
  'with %s, what failed paid nothing, and what a contract left behind is a payment',
  async (offered) => {
    chain.proxy.behave(lacks(offered === 'trace_block' ? 'debug_traceBlockByNumber' : 'trace_block'))
    const regretter = await placeCode(chain.anvil, regretterCode(alice))
    const leaver = await placeCode(chain.anvil, leaverCode)
    const range = await chain.inBlock(
      () => chain.pay(regretter, 4n),
      () => chain.pay(chain.forwarder, 4n, asData(regretter)),
      () => chain.pay(leaver, 6n, asData(alice)),
      () => chain.pay(chain.forwarder, 0n, asData(alice)),
    )
    expect(brief(await chain.readTraced(range))).toEqual([['trace:0', leaver, 6n]])
  },
)

test('what a watched contract gives away inside of a transaction is a movement', async () => {
  const range = await chain.inBlock(() => chain.pay(chain.forwarder, 5n, asData(alice)))
  const { transfers, movements } = await chain.readTraced(range, { of: [chain.forwarder] })
  expect(transfers.map(({ index, amount }) => [index, amount])).toEqual([['native', 5n]])
  expect(movements.map(({ index, address, change }) => [index, address, change])).toEqual([
    ['trace:0', chain.forwarder, -5n],
  ])
})

test('what is wrapped or unwrapped is a movement of its own, and no payment', async () => {
  const payer = chain.anvil.client.account.address
  const range = await chain.inBlock(
    () => chain.pay(chain.wrapper, 9n),
    () => chain.pay(chain.wrapper, 0n, withdrawData(4n)),
    () => chain.pay(chain.forwarder, 5n, asData(chain.wrapper)),
  )
  const { transfers, movements } = await chain.readTraced(range, { of: [payer, chain.forwarder] })
  expect(transfers.map(({ index, to }) => [index, to])).toEqual([['native', chain.forwarder]])
  expect(movements.filter(({ index }) => index.startsWith('trace'))).toEqual([])
})

test('where the chain writes a log of it (EIP-7708), only the log counts', async () => {
  const range = await chain.inBlock(() => chain.pay(chain.forwarder, 5n, asData(alice)))
  const log = { address: '0xfffffffffffffffffffffffffffffffffffffffe', topics: [], data: '0x' }
  chain.proxy.behave(
    changes('eth_getTransactionReceipt', (receipt) => ({ ...(receipt as object), logs: [log] })),
  )
  expect(brief(await chain.readTraced(range))).toEqual([])
})

test('with traces always, scans find what contracts pay, once, and a named transaction tells it too', async () => {
  const reader = chain.reader({ reading: { traces: 'always' } })
  const watched = addresses(alice)
  const { cursor } = await drain(reader, watched, { cursor: null })
  const { txs } = await chain.inBlock(() => chain.pay(chain.forwarder, 5n, asData(alice)))
  const { transfers } = await drain(reader, watched, { cursor })
  expect(transfers.map(({ stage, tx, index }) => [stage, tx, index])).toEqual([['final', txs[0], 'trace:0']])
  const named = await reader.readTransaction(transfers[0]?.tx ?? ('' as never), watched)
  expect(named).toEqual({ kind: 'read', transfers })
})

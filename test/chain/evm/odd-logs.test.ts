import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import type { FullChainReader, OddLogObserver, ScanCursor } from '../../../src/chain/types.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { addresses, drain, evmSettings } from '../../support/evm-watch.ts'
import { changes, type RpcProxy, type Script, startRpcProxy } from '../../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'

const depositor = '0x00000000000000000000000000000000000A11cE'
const watched = addresses(depositor)

type Log = Record<string, unknown> & { topics: string[]; logIndex: string }

let anvil: Anvil
let token: TestToken
let proxy: RpcProxy
let start: ScanCursor
let passedOver: Parameters<OddLogObserver>[0][]

beforeAll(async () => {
  anvil = await startAnvil()
  token = await deployToken(anvil, 'USDC')
  proxy = await startRpcProxy(anvil.url)
})
afterAll(async () => {
  await proxy.stop()
  await anvil.stop()
})
beforeEach(async () => {
  passedOver = []
  start = (await drain(reader(), watched, { cursor: null })).cursor
})
afterEach(() => proxy.behave())

function reader(native = false): FullChainReader {
  const settings = evmSettings({ ...anvil, url: proxy.url }, { tokens: [token.address], native })
  return createEvmReader(settings, { observeOddLog: (log) => passedOver.push(log) })
}

/** Pays twice, and gives the transaction of the first payment. */
async function payTwice(): Promise<string> {
  const tx = await token.send(depositor, 5n)
  await anvil.mine(1)
  await token.send(depositor, 7n)
  await anvil.mine(6)
  return tx
}

/** Changes the logs of one transaction, in the answers to log queries and, if the chain holds them so, in receipts. */
function withOdd(tx: string, change: (log: Log) => unknown, { inReceipts }: { inReceipts: boolean }): Script {
  const logs = (list: unknown) =>
    (list as Log[]).map((log) => (log['transactionHash'] === tx ? change(log) : log))
  const inReceipt = (receipt: unknown) => {
    const whole = receipt as { logs: Log[] }
    return { ...whole, logs: logs(whole.logs) }
  }
  return async (call, forward) => {
    const { result } = await forward()
    if (call.method === 'eth_getLogs') return { result: logs(result) }
    if (!inReceipts) return { result }
    if (call.method === 'eth_getTransactionReceipt') return { result: inReceipt(result) }
    return call.method === 'eth_getBlockReceipts'
      ? { result: (result as unknown[]).map(inReceipt) }
      : { result }
  }
}

const odd: readonly [string, (log: Log) => unknown, string][] = [
  [
    'four topics, as of an ERC-721 token',
    (log) => ({ ...log, topics: [...log.topics, log.topics[2]] }),
    'topics',
  ],
  [
    'a sender that is no address',
    (log) => ({ ...log, topics: log.topics.with(1, `0x${'f'.repeat(64)}`) }),
    'topics',
  ],
  ['no data', (log) => ({ ...log, data: '0x' }), 'data'],
  ['two numbers as its data', (log) => ({ ...log, data: `0x${'0'.repeat(128)}` }), 'data'],
  ['no data field', ({ data: _data, ...log }) => log, 'data'],
  ['no place in its block', (log) => ({ ...log, logIndex: null }), 'fields'],
  ['a block number that is none', (log) => ({ ...log, blockNumber: 'latest' }), 'fields'],
  ['no transaction', ({ transactionHash: _tx, ...log }) => log, 'fields'],
  ['no topics', ({ topics: _topics, ...log }) => log, 'fields'],
  ['no contract', ({ address: _address, ...log }) => log, 'fields'],
  ['nothing in its place', () => null, 'fields'],
]

test.each(odd)(
  'a log with %s is passed over with a reason, and the network is read on',
  async (...[, change, reason]) => {
    const tx = await payTwice()
    proxy.behave(withOdd(tx, change, { inReceipts: true }))
    const { transfers, cursor } = await drain(reader(), watched, { cursor: start })
    expect(transfers.filter(({ stage }) => stage === 'final').map(({ amount }) => amount)).toEqual([7n])
    expect(cursor.final.height).toBe((await anvil.client.getBlockNumber()) - 2n)
    expect(new Set(passedOver.map((one) => one.reason))).toEqual(new Set([reason]))
  },
)

test.each(odd.filter(([what]) => what !== 'nothing in its place'))(
  'a node whose logs have %s and whose receipts do not is not believed',
  async (_what, change) => {
    const tx = await payTwice()
    proxy.behave(withOdd(tx, change, { inReceipts: false }))
    await expect(drain(reader(true), watched, { cursor: start })).rejects.toThrow(/invalid format|omitted/)
    expect(passedOver).toEqual([])
  },
)

test('a log of an odd form that a watched address sent is passed over, too', async () => {
  await payTwice()
  const head = await anvil.client.getBlockNumber()
  proxy.behave(changes('eth_getLogs', (logs) => (logs as Log[]).map((log) => ({ ...log, data: '0x' }))))
  const sender = addresses(anvil.client.account.address)
  const range = { from: head - 8n, to: head - 2n }
  expect(await reader().readMovements({ ...range, addresses: sender })).toEqual([])
  expect(passedOver.map(({ reason }) => reason)).toContain('data')
})

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import type { ReaderOptions } from '../../../src/chain/options.ts'
import type { NetworkSettings, ScanCursor, ScanResult } from '../../../src/chain/types.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { addresses, evmSettings } from '../../support/evm-watch.ts'
import {
  changes,
  hidesLogs,
  lagsBehind,
  type RpcProxy,
  refusesByStatus,
  type Script,
  startRpcProxy,
} from '../../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'

const depositor = '0x00000000000000000000000000000000000A11cE'
const watched = addresses(depositor)

/** Does not wait for a node that asks to slow down. */
const impatient: ReaderOptions = { bounds: { quotaWaitMs: 0 } }

let anvil: Anvil
let token: TestToken
let proxy: RpcProxy
let start: ScanCursor

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
  await anvil.mine(4)
  start = (await scan(null)).cursor
  await token.send(depositor, 5n)
  await anvil.client.sendTransaction({ to: depositor, value: 6n })
  await anvil.mine(4)
})
afterEach(() => proxy.behave())

function settings(...urls: readonly string[]): NetworkSettings {
  return { ...evmSettings(anvil, { tokens: [token.address] }), rpcUrls: urls }
}

async function scan(
  cursor: ScanCursor | null,
  script?: Script,
  options: ReaderOptions = {},
): Promise<ScanResult> {
  const reader = createEvmReader(settings(proxy.url), {
    ...options,
    bounds: { ...impatient.bounds, ...options.bounds },
  })
  proxy.behave(script)
  return reader.scan({ cursor, startHeight: null, watched })
}

type AnyLog = { blockHash: string; removed: boolean; data: string; logIndex: string }
type AnyBlock = { parentHash: string; hash: string }
const eachLog = (change: (log: AnyLog) => object) => (logs: unknown) => (logs as AnyLog[]).map(change)
const otherHash = `0x${'ab'.repeat(32)}`

test.each<[string, Script, RegExp]>([
  [
    'hides a log that the log filter of the block betrays',
    hidesLogs,
    /receipts of block \d+.*the log query omitted/,
  ],
  [
    'answers a log in an invalid format',
    changes(
      'eth_getLogs',
      eachLog((log) => ({ ...log, data: '0x' })),
    ),
    /invalid format/,
  ],
  ['answers logs that are no list', changes('eth_getLogs', () => null), /not a list/],
  [
    'answers blocks that do not link',
    changes('eth_getBlockByNumber', (block) => ({ ...(block as AnyBlock), parentHash: otherHash })),
    /its parent is/,
  ],
  [
    'answers a receipt of another block',
    changes('eth_getTransactionReceipt', (receipt) => ({ ...(receipt as object), blockHash: otherHash })),
    /another block/,
  ],
  ['answers that the block is unknown', changes('eth_getBlockByNumber', () => null), /block not found/],
])('a node that %s does not move the cursor', async (_what, script, problem) => {
  await expect(scan(start, script)).rejects.toThrow(problem)
  const { transfers } = await scan(start)
  expect(transfers.map(({ stage, amount }) => [stage, amount])).toEqual([
    ['final', 5n],
    ['final', 6n],
  ])
})

test('a node that lacks the blocks it was asked about does not move the cursor', async () => {
  await expect(scan(start, lagsBehind(start.final.height))).rejects.toThrow(
    /the log query omitted|answered for blocks up to/,
  )
  const tokensOnly = createEvmReader({
    ...evmSettings(anvil, { tokens: [token.address], native: false }),
    rpcUrls: [proxy.url],
  })
  proxy.behave(lagsBehind(start.final.height))
  const lagging = tokensOnly.scan({ cursor: start, startHeight: null, watched })
  await expect(lagging).rejects.toThrow(/head.*it is at \d+, but answered for blocks up to \d+/)
})

test('a node whose head is below the cursor is behind, and its shorter history is no reorganisation', async () => {
  const { cursor } = await scan(start)
  const stale = changes('eth_getBlockByNumber', (block) => ({
    ...(block as object),
    number: `0x${(cursor.final.height - 1n).toString(16)}`,
  }))
  await expect(scan(cursor, stale)).rejects.toThrow(/its head \d+ is below block \d+/)
})

test('the next node takes over a scan, and the failed one rests', async () => {
  const reader = createEvmReader(settings(proxy.url, anvil.url), impatient)
  proxy.behave(refusesByStatus)
  const first = await reader.scan({ cursor: start, startHeight: null, watched })
  expect(first.transfers).toHaveLength(2)
  proxy.calls.length = 0
  await reader.scan({ cursor: start, startHeight: null, watched })
  expect(proxy.calls).toEqual([])
})

test('of a long refusal the beginning is told', async () => {
  const error = { code: -32000, message: `no: ${'a-'.repeat(500_000)}` }
  const failing = scan(start, ({ method }, forward) => (method === 'eth_getLogs' ? { error } : forward()))
  const said = await failing.then(String, (thrown: Error) => thrown.message)
  expect(said).toMatch(/logs of .*no: a-.* characters\) \(code -32000\)/)
  expect(said.length).toBeLessThan(3000)
})

test('a wrong chain id is named, by the check and by a scan', async () => {
  const lies = changes('eth_chainId', () => '0x1')
  await expect(scan(start, lies)).rejects.toThrow('RPC_BASE: expected chain id 8453, found 1')
  const reader = createEvmReader(settings(anvil.url, proxy.url))
  await expect(reader.checkIdentity()).rejects.toThrow('RPC_BASE: expected chain id 8453, found 1')
})

test('wrong decimals and addresses without a token are all named at once', async () => {
  const right = evmSettings(anvil, { tokens: [token.address, depositor] })
  const assets = right.assets.map((asset) =>
    asset.key.endsWith('native') ? asset : { ...asset, decimals: 6 },
  )
  const checked = createEvmReader({ ...right, assets }).checkIdentity()
  await expect(checked).rejects.toThrow(/expected decimals 6, found 18.*expected decimals 6, found no token/)
})

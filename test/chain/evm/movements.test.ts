import type { Hex } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import type { ReaderOptions } from '../../../src/chain/options.ts'
import type { BalanceMovement } from '../../../src/chain/types.ts'
import { type Anvil, rich, startAnvil } from '../../support/anvil.ts'
import { addresses, evmSettings } from '../../support/evm-watch.ts'
import { changes, lagsBehind, limitsRange, type RpcProxy, startRpcProxy } from '../../support/rpc-proxy.ts'
import {
  asData,
  forwarderCode,
  placeCode,
  vaultCode,
  withdrawData,
  wrapperCode,
} from '../../support/small-contracts.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'

const alice = '0x00000000000000000000000000000000000a11ce'
const us = rich.address.toLowerCase() as Hex

let anvil: Anvil
let proxy: RpcProxy
let token: TestToken
let fake: TestToken
let wrapper: Hex
let vault: Hex
/** A contract that holds coins of its own, as a smart wallet does. */
let wallet: Hex

beforeAll(async () => {
  anvil = await startAnvil()
  proxy = await startRpcProxy(anvil.url)
  token = await deployToken(anvil, 'USDC')
  fake = await deployToken(anvil, 'USDC')
  wrapper = await placeCode(anvil, wrapperCode)
  vault = await placeCode(anvil, vaultCode)
  wallet = await placeCode(anvil, forwarderCode)
})
afterAll(async () => {
  await proxy.stop()
  await anvil.stop()
})
afterEach(() => proxy.behave())

/** Sends the transactions, each in its own block, and names the stretch in which they are. */
async function inBlocks(...sends: (() => Promise<Hex>)[]): Promise<{ from: bigint; to: bigint; txs: Hex[] }> {
  const from = (await anvil.client.getBlockNumber()) + 1n
  const txs: Hex[] = []
  for (const send of sends) {
    txs.push(await send())
    await anvil.mine()
  }
  const to = await anvil.client.getBlockNumber()
  await anvil.mine(2)
  return { from, to, txs }
}

type Asked = { native?: boolean; of?: readonly string[]; options?: ReaderOptions }

function readMovements(
  range: { from: bigint; to: bigint },
  { native = true, of = [us], options }: Asked = {},
) {
  const tokens = [token.address, wrapper, vault]
  const settings = { ...evmSettings(anvil, { tokens, native }), rpcUrls: [proxy.url] }
  return createEvmReader(settings, options).readMovements({ ...range, addresses: addresses(...of) })
}

const brief = (movements: readonly BalanceMovement[]) =>
  movements.map(({ asset, index, change }) => [asset.replace('base/', ''), index, change])

const pay = (to: Hex, value: bigint, data: Hex = '0x') =>
  anvil.client.sendTransaction({ to, value, data, gas: 200_000n })

test('what an address sent of the tokens is told with the place where it is', async () => {
  const { from, to, txs } = await inBlocks(
    () => token.send(alice, 5n),
    () => token.send(alice, 7n),
  )
  const found = await readMovements({ from, to })
  const { hash } = await anvil.client.getBlock({ blockNumber: from })
  expect(found[0]).toEqual({
    network: 'base',
    tx: txs[0],
    index: '0',
    asset: `base/${token.address}`,
    address: us,
    change: -5n,
    recipients: [alice.toLowerCase()],
    height: from,
    blockHash: hash,
  })
  expect(found.map(({ change }) => change)).toEqual([-5n, -7n])
  expect(await readMovements({ from: to, to })).toEqual(found.slice(1))
})

test('what moves nothing, is of another token or of another sender is not told', async () => {
  const range = await inBlocks(
    () => token.send(alice, 0n),
    () => token.send(rich.address, 5n),
    () => fake.send(alice, 5n),
  )
  expect(await readMovements(range)).toEqual([])
  const sent = await inBlocks(() => token.send(alice, 5n))
  expect(await readMovements(sent, { of: [alice] })).toEqual([])
  expect(await readMovements(sent, { of: [] })).toEqual([])
})

test('wrapping by a transaction of its own shows in the block; only what came for it is told', async () => {
  const wrapped = await inBlocks(() => pay(wrapper, 9n))
  expect(brief(await readMovements(wrapped))).toEqual([[wrapper, '0', 9n]])
})

test('unwrapping moves both: the wrapped coin goes, the coin comes', async () => {
  const unwrapped = await inBlocks(
    () => pay(wrapper, 9n),
    () => pay(wrapper, 0n, withdrawData(4n)),
  )
  const both = [
    [wrapper, '0', -4n],
    ['native', '0/native', 4n],
  ]
  expect(brief(await readMovements({ ...unwrapped, from: unwrapped.to }))).toEqual(both)
  expect(brief(await readMovements(unwrapped, { native: false }))).toEqual([
    [wrapper, '0', 9n],
    [wrapper, '0', -4n],
  ])
})

test('wrapping by a wallet that is a contract moves both, for no block shows what it sends', async () => {
  const range = await inBlocks(() => pay(wallet, 6n, asData(wrapper)))
  expect(brief(await readMovements(range, { of: [wallet] }))).toEqual([
    [wrapper, '0', 6n],
    ['native', '0/native', -6n],
  ])
  expect(await readMovements(range)).toEqual([])
})

test('a vault that uses the words of the wrapping contract and writes a Transfer too wraps nothing', async () => {
  const range = await inBlocks(() => pay(vault, 6n))
  expect(await readMovements(range)).toEqual([])
})

test('a node that limits the blocks of a query is asked in halves, and answers the same', async () => {
  const range = await inBlocks(
    () => token.send(alice, 1n),
    () => token.send(alice, 2n),
    () => token.send(alice, 3n),
  )
  const whole = await readMovements(range)
  proxy.behave(limitsRange(1n))
  expect(await readMovements(range)).toEqual(whole)
  proxy.behave()
  expect(await readMovements(range, { options: { bounds: { logsPerAnswerMax: 2 } } })).toEqual(whole)
  await expect(readMovements(range, { options: { bounds: { logsPerAnswerMax: 1 } } })).rejects.toThrow(
    'the answer for one block may be truncated',
  )
})

type AnyLog = { blockHash: Hex; blockNumber: Hex; removed: boolean }

test.each<[string, Partial<AnyLog>, RegExp]>([
  [
    'of a block that is not part of the chain',
    { blockHash: `0x${'ab'.repeat(32)}` },
    /belongs to another block than the one/,
  ],
  ['that was removed', { removed: true }, /was removed or is outside/],
  ['of another height', { blockNumber: '0x1' }, /was removed or is outside/],
])('a log %s is refused', async (_what, change, problem) => {
  const range = await inBlocks(() => token.send(alice, 5n))
  proxy.behave(changes('eth_getLogs', (logs) => (logs as AnyLog[]).map((log) => ({ ...log, ...change }))))
  await expect(readMovements(range)).rejects.toThrow(problem)
})

test('a node that lacks the blocks tells nothing', async () => {
  const range = await inBlocks(() => token.send(alice, 5n))
  proxy.behave(lagsBehind(range.from - 1n))
  await expect(readMovements(range)).rejects.toThrow('answered for blocks up to')
})

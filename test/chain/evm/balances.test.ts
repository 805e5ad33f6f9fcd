import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import type { ReaderOptions } from '../../../src/chain/options.ts'
import type { BalanceRequest } from '../../../src/chain/types.ts'
import { type AssetKey, assetKey, parseAddress } from '../../../src/core/asset.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { base, evmSettings } from '../../support/evm-watch.ts'
import { placeMulticall } from '../../support/multicall.ts'
import { changes, type RpcProxy, type Script, startRpcProxy } from '../../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'

const alice = parseAddress('evm', '0x00000000000000000000000000000000000A11cE')
const bob = parseAddress('evm', '0x0000000000000000000000000000000000000B0b')
const coin = assetKey(base, 'native')

let anvil: Anvil
let proxy: RpcProxy
let token: TestToken
let tokens: AssetKey
/** The block in which Alice got her 5 tokens and Bob his 6 wei; a block later Alice got 7 more. */
let paidAt: bigint
/** The block above which Multicall3 is there. */
let alone: bigint

beforeAll(async () => {
  anvil = await startAnvil()
  proxy = await startRpcProxy(anvil.url)
  token = await deployToken(anvil, 'USDC')
  tokens = assetKey(base, parseAddress('evm', token.address))
  await token.send(alice as never, 5n)
  await anvil.client.sendTransaction({ to: bob as never, value: 6n })
  await anvil.mine()
  paidAt = await anvil.client.getBlockNumber()
  await token.send(alice as never, 7n)
  await anvil.mine(2)
  alone = await anvil.client.getBlockNumber()
  await placeMulticall(anvil)
  await anvil.mine(4)
})
afterAll(async () => {
  await proxy.stop()
  await anvil.stop()
})
afterEach(() => proxy.behave())

const pairs = () => [
  { address: alice, asset: tokens },
  { address: bob, asset: coin },
  { address: alice, asset: coin },
  { address: bob, asset: tokens },
]

function readerOf(options?: ReaderOptions, ...others: readonly string[]) {
  const rpcUrls = [proxy.url, ...others]
  return createEvmReader({ ...evmSettings(anvil, { tokens: [token.address] }), rpcUrls }, options)
}

function readBalances(request: BalanceRequest, options?: ReaderOptions) {
  proxy.calls.length = 0
  return readerOf(options).readBalances(request)
}

const asked = () => proxy.calls.map(({ method }) => method).filter((method) => /call|Balance/.test(method))

test('balances at what is final now come in the order of the pairs, in one request', async () => {
  const { at, balances } = await readBalances({ pairs: pairs(), at: null })
  const final = await anvil.client.getBlock({ blockTag: 'finalized' })
  expect(at).toEqual({ height: final.number, hash: final.hash })
  expect(balances).toEqual([12n, 6n, 0n, 0n])
  expect(asked()).toEqual(['eth_call'])
})

test('balances are those at the height named', async () => {
  const before = await readBalances({ pairs: pairs(), at: { height: paidAt - 1n } })
  expect(before.balances).toEqual([0n, 0n, 0n, 0n])
  const { hash } = await anvil.client.getBlock({ blockNumber: paidAt })
  const then = await readBalances({ pairs: pairs(), at: { height: paidAt, hash } })
  expect(then).toEqual({ at: { height: paidAt, hash }, balances: [5n, 6n, 0n, 0n] })
})

test('many pairs are asked for in pieces', async () => {
  const bounds = { balancesPerRequest: 3 }
  const { balances } = await readBalances({ pairs: pairs(), at: null }, { bounds })
  expect(balances).toEqual([12n, 6n, 0n, 0n])
  expect(asked()).toEqual(['eth_call', 'eth_call'])
})

test('where the chain has no Multicall3 at that height, every pair is asked for by itself', async () => {
  const { balances } = await readBalances({ pairs: pairs(), at: { height: alone } })
  expect(balances).toEqual([12n, 6n, 0n, 0n])
  expect(asked().toSorted()).toEqual(['eth_call', 'eth_call', 'eth_call', 'eth_getBalance', 'eth_getBalance'])
})

test('nobody holds a token whose contract is not there yet', async () => {
  const both = { pairs: pairs(), at: { height: 0n } }
  expect((await readBalances(both)).balances).toEqual([0n, 0n, 0n, 0n])
})

test('nothing is asked for nobody', async () => {
  expect((await readBalances({ pairs: [], at: null })).balances).toEqual([])
  expect(asked()).toEqual([])
})

test('a contract that answers no number is a fault that names the asset', async () => {
  const asset = assetKey(base, parseAddress('evm', '0xca11bde05977b3631167028862be2a173976ca11'))
  const odd = [
    { address: alice, asset },
    { address: bob, asset },
  ]
  await expect(readBalances({ pairs: odd, at: null })).rejects.toThrow(`${asset} did not return a number`)
})

test('another block than the one named is a fault', async () => {
  const hash = `0x${'ab'.repeat(32)}`
  const request = { pairs: pairs(), at: { height: paidAt, hash } }
  await expect(readBalances(request)).rejects.toThrow(`balances were requested at ${hash}`)
})

test('an answer that is not the list of Multicall3 is a fault', async () => {
  proxy.behave(changes('eth_call', () => `0x${'00'.repeat(40)}`))
  await expect(readBalances({ pairs: pairs(), at: null })).rejects.toThrow('the number of answers differs')
})

/** The node keeps no state up to the block of the first payments. */
const forgets: Script = ({ method, params }, forward) =>
  method === 'eth_call' && BigInt(params[1] as string) <= paidAt
    ? { error: { code: -32000, message: 'missing trie node 1a3b (path ) state 0x1a3b is not available' } }
    : forward()

test('a node without the state of old blocks answers what is final now, and says so', async () => {
  proxy.behave(forgets)
  const { at, balances } = await readBalances({ pairs: pairs(), at: { height: paidAt } })
  expect(at.height).toBe((await anvil.client.getBlockNumber()) - 2n)
  expect(balances).toEqual([12n, 6n, 0n, 0n])
})

test('where another node keeps the state, that one answers, and the first is still preferred', async () => {
  proxy.behave(forgets)
  const reader = readerOf({}, anvil.url)
  const { at, balances } = await reader.readBalances({ pairs: pairs(), at: { height: paidAt } })
  expect(at.height).toBe(paidAt)
  expect(balances).toEqual([5n, 6n, 0n, 0n])
  proxy.calls.length = 0
  await reader.readBalances({ pairs: pairs(), at: null })
  expect(asked()).toEqual(['eth_call'])
})

test('one pair is asked for by itself', async () => {
  const { balances } = await readBalances({ pairs: pairs().slice(1, 2), at: null })
  expect(balances).toEqual([6n])
  expect(asked()).toEqual(['eth_getBalance'])
})

test('a node that fails otherwise, or at what is final, is a fault', async () => {
  proxy.behave(({ method }, forward) =>
    method === 'eth_call' ? { error: { code: -32000, message: 'header not found' } } : forward(),
  )
  await expect(readBalances({ pairs: pairs(), at: { height: paidAt } })).rejects.toThrow('header not found')
  proxy.behave(({ method }, forward) =>
    method === 'eth_call' ? { error: { code: -32000, message: 'missing trie node' } } : forward(),
  )
  await expect(readBalances({ pairs: pairs(), at: null })).rejects.toThrow('missing trie node')
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEvmReader } from '../../src/chain/evm/reader.ts'
import { readDecimals } from '../../src/chain/reader.ts'
import { createSolanaReader } from '../../src/chain/solana/reader.ts'
import type { NetworkSettings } from '../../src/chain/types.ts'
import {
  type Address,
  type AssetLabel,
  assetKey,
  type NetworkName,
  parseAddress,
} from '../../src/core/asset.ts'
import { freePort } from '../../src/sandbox/free-port.ts'
import { type Anvil, startAnvil } from '../support/anvil.ts'
import { base, evmSettings } from '../support/evm-watch.ts'
import { changes, type RpcProxy, startRpcProxy } from '../support/rpc-proxy.ts'
import { newAddress } from '../support/solana-ledger.ts'
import { type SolanaTestNode, startSolanaNode } from '../support/solana-node.ts'
import { deployToken, type TestToken } from '../support/test-token.ts'

let anvil: Anvil
let token: TestToken
let proxy: RpcProxy
let node: SolanaTestNode

beforeAll(async () => {
  anvil = await startAnvil()
  token = await deployToken(anvil, 'TKN')
  proxy = await startRpcProxy(anvil.url)
  node = await startSolanaNode()
})
afterAll(async () => {
  await node.stop()
  await proxy.stop()
  await anvil.stop()
})

const solana = 'solana' as NetworkName

function onBase(...urls: string[]): NetworkSettings {
  return { ...evmSettings(anvil, { tokens: [], native: false }), rpcUrls: urls }
}

function onSolana(): NetworkSettings {
  return { name: solana, family: 'solana', chainId: null, rpcUrls: [node.url], assets: [] }
}

function label(symbol: string, text: string): AssetLabel {
  return { key: assetKey(base, parseAddress('evm', text)), network: base, symbol }
}

function mint(symbol: string, address: Address): AssetLabel {
  return { key: assetKey(solana, address), network: solana, symbol }
}

const nobody = '0x00000000000000000000000000000000000000ee'

test('the decimals of a contract are those it tells', async () => {
  const wanted = label('TKN', token.address)
  expect(await readDecimals(onBase(anvil.url), [wanted])).toEqual([{ ...wanted, decimals: 18 }])
})

test('the decimals of a mint are those it tells', async () => {
  const wanted = mint('USDC', node.addMint(6))
  expect(await readDecimals(onSolana(), [wanted])).toEqual([{ ...wanted, decimals: 6 }])
})

test('what is no token and what is no mint is named', async () => {
  await expect(
    readDecimals(onBase(anvil.url), [label('TKN', token.address), label('X', nobody)]),
  ).rejects.toThrow(`asset X (base/${nobody}): no token found there; check the address`)
  await expect(readDecimals(onSolana(), [mint('Y', newAddress())])).rejects.toMatchObject({
    code: 'settings_bad',
  })
})

test.each([
  ['another number than another node', 6, 'the nodes report different decimals: 18, 6'],
  ['more than can be kept', 39, 'has 39 decimals; at most 38 are supported'],
  ['what is no number of decimals', 256, 'no token found there'],
])('a node that says %s is not believed', async (_what, decimals, problem) => {
  proxy.behave(changes('eth_call', () => `0x${decimals.toString(16).padStart(64, '0')}`))
  const urls = decimals === 6 ? [anvil.url, proxy.url] : [proxy.url]
  await expect(readDecimals(onBase(...urls), [label('TKN', token.address)])).rejects.toThrow(problem)
})

test('a node that is away is passed over while another answers', async () => {
  const away = `http://127.0.0.1:${await freePort()}`
  const wanted = label('TKN', token.address)
  expect(await readDecimals(onBase(away, anvil.url), [wanted])).toHaveLength(1)
  await expect(readDecimals(onBase(away), [wanted])).rejects.toMatchObject({ code: 'remote_failed' })
})

test("a coin has its family's decimals, and no other", async () => {
  const coin = { key: assetKey(base, 'native'), network: base, symbol: 'ETH', decimals: 6 }
  await expect(createEvmReader({ ...onBase(anvil.url), assets: [coin] }).checkIdentity()).rejects.toThrow(
    'asset ETH (base/native): expected decimals 6, found 18',
  )
  const sol = { key: assetKey(solana, 'native'), network: solana, symbol: 'SOL', decimals: 18 }
  await expect(createSolanaReader({ ...onSolana(), assets: [sol] }).checkIdentity()).rejects.toThrow(
    'asset SOL (solana/native): expected decimals 18, found 9',
  )
})

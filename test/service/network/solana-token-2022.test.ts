import { generateKeyPairSigner } from '@solana/kit'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Address } from '../../../src/core/asset.ts'
import { liquidityBranch } from '../../../src/service/keyring/keyring.ts'
import type { NetworkClient, NetworkReadPosition } from '../../../src/service/network/port.ts'
import { openSolana } from '../../../src/service/network/solana.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'
import { changes, startRpcProxy } from '../../support/rpc-proxy.ts'
import { nonTransferable, setTransferFee, transferFee, transferHook } from '../../support/token-2022.ts'
import { until } from '../../support/until.ts'
import { keyring, land, type MintMade, newOrder, oneSol, openNetwork, startWallet } from './solana-wallet.ts'

const wallet = await startWallet(temporaryFolderOfFile())
const liquidity = keyring.address('solana', liquidityBranch)
let plain: MintMade
/** Withholds one percent of each transfer, and at most 5,000 units. */
let withFee: MintMade
let network: NetworkClient
let branch = 0
let address: Address

beforeAll(async () => {
  await wallet.fund(liquidityBranch, 100n * oneSol)
  plain = await wallet.mint([])
  withFee = await wallet.mint([transferFee(100, 5000n)])
  for (const mint of [plain, withFee]) await wallet.give(mint, liquidity, 10_000_000n)
})

beforeEach(() => {
  branch += 1
  address = keyring.address('solana', branch)
  network = openNetwork(wallet.url, [plain, withFee])
})

afterAll(() => wallet.stop())

/** What is told of the address as final, from there on. */
async function finalPayments(start: NetworkReadPosition): Promise<{ asset: string; amount: bigint }[]> {
  let position = start
  return until('a payment is final', async () => {
    const scan = await network.scan(position, () => Promise.resolve(new Set([address])))
    position = scan.position
    const finals = scan.payments.filter(({ final }) => final)
    return finals.length > 0 ? finals.map(({ asset, amount }) => ({ asset, amount })) : null
  })
}

test('mints of both token programs pass the check', async () => {
  await expect(network.check()).resolves.toBeUndefined()
})

test('a deposit of a Token-2022 token is found, without what the token withholds', async () => {
  for (const [mint, arriving] of [
    [plain, 100_000n],
    [withFee, 99_000n],
  ] as const) {
    const outsider = keyring.address('solana', 1000)
    await wallet.give(mint, outsider, 100_000n)
    const start = await network.start()
    const order = await newOrder({ branch: 1000, to: address, asset: mint.asset, amount: 100_000n })
    await land(network, await network.draft({ ...order, feeFrom: 'amount' }))
    expect(await finalPayments(start)).toEqual([{ asset: mint.asset, amount: arriving }])
  }
})

test.each([
  ['the most it may', 1_000_000n, 5000n],
  ['a share', 100_000n, 1011n],
  ['a unit', 1n, 1n],
])('of a token that withholds %s, exactly what was ordered arrives', async (_what, amount, fee) => {
  const before = await network.balance(liquidityBranch, withFee.asset)
  const order = await newOrder({ asset: withFee.asset, amount })
  const draft = await network.draft(order)
  await land(network, draft)
  expect([draft.amount, await wallet.held(withFee, order.to)]).toEqual([amount, amount])
  expect(await network.balance(liquidityBranch, withFee.asset)).toBe(before - amount - fee)
})

test('a sweep of a token that withholds a fee leaves none, and what arrives was said before', async () => {
  await wallet.give(withFee, address, 100_000n)
  await wallet.giveAside(withFee, address, 10_000n)
  const order = await newOrder({ branch, asset: withFee.asset, amount: 110_000n, feeFrom: 'amount' })
  const draft = await network.draft(order)
  await land(network, draft)
  expect([draft.amount, await wallet.held(withFee, order.to)]).toEqual([108_900n, 108_900n])
  expect(await network.balance(branch, withFee.asset)).toBe(0n)
})

test('the fee of the epoch is expected, and a transfer that expects another one fails', async () => {
  const { outsider } = wallet
  const mint = await wallet.mint([transferFee(100, 5000n, outsider.address)])
  await wallet.give(mint, liquidity, 10_000_000n)
  await wallet.pay([setTransferFee(mint.code, outsider, [200, 5000n])])
  const order = await newOrder({ asset: mint.asset, amount: 100_000n })
  await land(openNetwork(wallet.url, [mint]), await openNetwork(wallet.url, [mint]).draft(order))
  expect(await wallet.held(mint, order.to)).toBe(100_000n)
  const proxy = await startRpcProxy(wallet.url)
  proxy.behave(changes('getEpochInfo', (info) => ({ ...(info as object), epoch: 2 })))
  await expect(openNetwork(proxy.url, [mint]).draft(order)).rejects.toThrow('the transfer would fail')
  await proxy.stop()
})

test('a node of another cluster than the one that is meant is refused', async () => {
  const genesisHash = await wallet.rpc.getGenesisHash().send()
  const settings = { ...openNetwork(wallet.url, [plain]).settings, genesisHash }
  await openSolana(settings, keyring).check()
  const other = liquidity as string
  await expect(openSolana({ ...settings, genesisHash: other }, keyring).check()).rejects.toThrow(
    `the RPC of solana serves the cluster ${genesisHash}, not ${other}`,
  )
})

test('mints whose tokens no plain transfer moves are refused at the start', async () => {
  const hook = await generateKeyPairSigner()
  const mints = [await wallet.mint([nonTransferable]), await wallet.mint([transferHook(hook.address)])]
  await expect(openNetwork(wallet.url, mints).check()).rejects.toMatchObject({
    code: 'settings_bad',
    details: {
      faults: [
        `${mints[0]?.asset} cannot be forwarded: its tokens cannot be transferred`,
        `${mints[1]?.asset} cannot be forwarded: a transfer hook runs a program at each transfer`,
      ],
    },
  })
})

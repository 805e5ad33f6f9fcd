import { findAssociatedTokenPda, getFreezeAccountInstruction } from '@solana-program/token'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Address } from '../../../src/core/asset.ts'
import { isFault } from '../../../src/core/errors.ts'
import { liquidityBranch, openKeyring } from '../../../src/service/keyring/keyring.ts'
import type { NetworkClient } from '../../../src/service/network/port.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'
import { startRpcProxy } from '../../support/rpc-proxy.ts'
import {
  keyring,
  land,
  type MintMade,
  newOrder,
  oneSol,
  openNetwork,
  sol,
  startWallet,
} from './solana-wallet.ts'

const wallet = await startWallet(temporaryFolderOfFile())
const proxy = await startRpcProxy(wallet.url)
const liquidity = keyring.address('solana', liquidityBranch)
let mint: MintMade
let network: NetworkClient
/** A deposit address that nobody has paid to yet. */
let branch = 0
let address: Address

beforeAll(async () => {
  await wallet.fund(liquidityBranch, 100n * oneSol)
  mint = await wallet.mint(null)
  await wallet.give(mint, liquidity, 1_000_000n)
})

beforeEach(() => {
  branch += 1
  address = keyring.address('solana', branch)
  network = openNetwork(wallet.url, [mint])
})

afterAll(() => Promise.all([proxy.stop(), wallet.stop()]))

test('lamports arrive as they were ordered', async () => {
  const order = await newOrder({})
  const draft = await network.draft(order)
  await land(network, draft)
  expect([draft.amount, await wallet.lamports(order.to)]).toEqual([oneSol, oneSol])
})

test('tokens arrive as they were ordered, at an account that is made for them', async () => {
  const order = await newOrder({ asset: mint.asset, amount: 300n })
  const draft = await network.draft(order)
  await land(network, draft)
  expect([draft.amount, await wallet.held(mint, order.to)]).toEqual([300n, 300n])
})

test('lamports that do not make an account are not drafted to where none is', async () => {
  const order = await newOrder({ amount: 890_879n })
  await expect(network.draft(order)).rejects.toThrow(
    /does not exist, and 890879 lamports are less than the minimum of 890880/,
  )
  await land(network, await network.draft({ ...order, amount: 890_880n }))
  await land(network, await network.draft({ ...order, amount: 1n }))
  expect(await wallet.lamports(order.to)).toBe(890_881n)
})

test('a sweep of lamports leaves nothing, and the liquidity wallet pays for it', async () => {
  await wallet.fund(branch, oneSol)
  const order = await newOrder({ branch, amount: oneSol, feeFrom: 'amount' })
  expect(await network.gasLack(order)).toBe(0n)
  const before = await wallet.lamports(liquidity)
  await land(network, await network.draft(order))
  expect(await wallet.lamports(order.to)).toBe(oneSol)
  expect(await network.balance(branch, sol)).toBe(0n)
  expect(await wallet.lamports(liquidity)).toBe(before - 10_000n)
})

test('a sweep that leaves less than an account must hold is not drafted', async () => {
  await wallet.fund(branch, oneSol)
  const order = await newOrder({ branch, amount: oneSol - 1n })
  await expect(network.draft(order)).rejects.toThrow(/would keep 1 lamports, less than the minimum of 890880/)
})

test('a sweep of tokens takes them from every account of the address, and leaves none', async () => {
  await wallet.give(mint, address, 456_789n)
  await wallet.giveAside(mint, address, 123_000_000n)
  const order = await newOrder({ branch, asset: mint.asset, amount: 123_456_789n, feeFrom: 'amount' })
  await land(network, await network.draft(order))
  expect(await wallet.held(mint, order.to)).toBe(123_456_789n)
  expect(await network.balance(branch, mint.asset)).toBe(0n)
})

test('tokens in more accounts than one transfer takes from are moved as far as it goes', async () => {
  await Promise.all(Array.from({ length: 9 }, () => wallet.giveAside(mint, address, 100n)))
  const order = await newOrder({ branch, asset: mint.asset, amount: 900n, feeFrom: 'amount' })
  await expect(network.draft(order)).rejects.toThrow(/in 9 accounts; one transfer can use 8/)
  await land(network, await network.draft({ ...order, amount: 800n }))
  expect(await wallet.held(mint, order.to)).toBe(800n)
})

test('what the address does not have is not drafted', async () => {
  const much = await newOrder({ amount: 1000n * oneSol })
  await expect(network.draft(much)).rejects.toThrow(/of solana\/native available, 10000000050\d\d needed/)
  const tokens = await newOrder({ branch, asset: mint.asset, amount: 1n })
  await expect(network.draft(tokens)).rejects.toThrow(
    `${address} has insufficient funds: 0 of ${mint.asset} available`,
  )
})

test('what was signed away is not signed away again, sent or not', async () => {
  await wallet.fund(branch, 3n * oneSol)
  const order = await newOrder({ branch, amount: 2n * oneSol })
  const [first, second] = [await network.draft(order), await network.draft({ ...order, reference: 'two' })]
  const signed = await first.sign(null)
  await expect(async () => second.sign(null)).rejects.toThrow(/1000000000 of solana\/native available/)
  await expect(network.draft(order)).rejects.toThrow(/insufficient funds/)
  await network.send(signed.bytes)
  await expect(network.draft(order)).rejects.toThrow(/insufficient funds/)
})

test('what was signed and has expired is free again', async () => {
  await wallet.fund(branch, 3n * oneSol)
  const order = await newOrder({ branch, amount: 2n * oneSol })
  const proxied = openNetwork(proxy.url, [])
  await (await proxied.draft(order)).sign(null)
  await expect(proxied.draft(order)).rejects.toThrow(/insufficient funds/)
  proxy.behave(({ method }, forward) => (method === 'getBlockHeight' ? { result: 10 ** 9 } : forward()))
  await expect(proxied.draft(order)).resolves.toMatchObject({ amount: order.amount })
})

test('what an account costs that is made for tokens is not spent twice either', async () => {
  const poor = openKeyring('ab'.repeat(16))
  const own = openNetwork(wallet.url, [mint], poor)
  await wallet.fund(liquidityBranch, 5_000_000n, poor)
  await wallet.give(mint, poor.address('solana', liquidityBranch), 100n)
  const orders = [
    await newOrder({ asset: mint.asset, amount: 1n }),
    await newOrder({ asset: mint.asset, amount: 1n }),
  ]
  const [first, second] = await Promise.all(orders.map((order) => own.draft(order)))
  await first?.sign(null)
  await expect(async () => second?.sign(null)).rejects.toThrow(/of solana\/native available/)
})

test('tokens in a frozen account are not there to be paid with', async () => {
  await wallet.give(mint, address, 100n)
  const [account] = await findAssociatedTokenPda({
    owner: address as string as typeof mint.code,
    mint: mint.code,
    tokenProgram: mint.program,
  })
  const owner = wallet.outsider
  await wallet.pay([getFreezeAccountInstruction({ account, mint: mint.code, owner })])
  await expect(network.draft(await newOrder({ branch, asset: mint.asset, amount: 1n }))).rejects.toThrow(
    /insufficient funds: 0 of/,
  )
})

test.each(['solana/native', 'tokens'])(
  '%s are not drafted to a token account, nor to a program',
  async (what) => {
    await wallet.give(mint, address, 1n)
    const [account] = await findAssociatedTokenPda({
      owner: address as string as typeof mint.code,
      mint: mint.code,
      tokenProgram: mint.program,
    })
    const asset = what === 'tokens' ? mint.asset : sol
    const pay = async (to: string) =>
      network.draft(await newOrder({ asset, amount: 100n, to: to as Address }))
    await expect(pay(account)).rejects.toThrow(`${account} is an account of a token program, not a wallet`)
    await expect(pay(mint.code)).rejects.toThrow(/is an account of a token program/)
    await expect(pay(mint.program)).rejects.toThrow(`${mint.program} is a program`)
  },
)

test('what has landed is counted once', async () => {
  await wallet.fund(branch, 3n * oneSol)
  await land(network, await network.draft(await newOrder({ branch })))
  await land(network, await network.draft(await newOrder({ branch })))
  await land(network, await network.draft(await newOrder({ branch })))
  expect(await network.balance(branch, sol)).toBe(0n)
})

test('what the node expects to fail is not drafted, and that is a fault of the remote', async () => {
  // What the runtime writes itself cannot be written by a transfer.
  const to = 'SysvarC1ock11111111111111111111111111111111' as Address
  const refused = await network.draft(await newOrder({ to })).catch((error: unknown) => error)
  expect(isFault(refused, 'remote_failed')).toBe(true)
  expect((refused as Error).message).toContain('the transfer would fail')
  const silent = openNetwork('http://127.0.0.1:1', []).draft(await newOrder({}))
  expect(isFault(await silent.catch((error: unknown) => error), 'remote_failed')).toBe(true)
})

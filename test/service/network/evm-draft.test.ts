import { type Hex, numberToHex, parseEther, toEventSelector } from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { type AssetKey, parseAddress, type TxId, toTxId } from '../../../src/core/asset.ts'
import { isFault } from '../../../src/core/errors.ts'
import { liquidityBranch } from '../../../src/service/keyring/keyring.ts'
import { openEvm } from '../../../src/service/network/evm.ts'
import type { NetworkClient, TransferOrder } from '../../../src/service/network/port.ts'
import { type Anvil, rich, startAnvil } from '../../support/anvil.ts'
import { changes, startRpcProxy } from '../../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'
import { networkSettings } from '../fixtures.ts'
import { decode, keyring, land, native, openMainnet, payment, recipient, sendSigned } from './evm-wallet.ts'

const liquidity = keyring.evmAccount(liquidityBranch).address
/** Code that refuses whatever it is called with. */
const refusing = '0x60006000fd'
const otherHash: Hex = `0x${'ab'.repeat(32)}`

const anvil: Anvil = await startAnvil(1)
const token: TestToken = await deployToken(anvil, 'USDC')
const usdc = `mainnet/${token.address}` as AssetKey
let network: NetworkClient
/** A deposit address that nobody has paid to yet. */
let branch = 0
let address: Hex

beforeEach(async () => {
  branch += 1
  address = keyring.evmAccount(branch).address
  await anvil.client.setBalance({ address: liquidity, value: parseEther('1') })
  await anvil.mine(3)
  network = openMainnet(anvil.url, token.address)
})

afterAll(() => anvil.stop())

const outcome = (transaction: TxId) => network.outcome({ transaction, expiresHeight: null })
const balance = (holder: Hex): Promise<bigint> => anvil.client.getBalance({ address: holder })

test('a transfer is open until its block is final, and known from when it was sent', async () => {
  const before = await balance(recipient)
  const draft = await network.draft(payment)
  const { transaction, bytes } = await draft.sign(await network.nextNonce(liquidityBranch))
  expect(await outcome(transaction)).toEqual({ kind: 'open', known: false })
  await network.send(bytes)
  expect(await outcome(transaction)).toEqual({ kind: 'open', known: true })
  await anvil.mine(2)
  expect(await outcome(transaction), 'mined, not final').toEqual({ kind: 'open', known: true })
  await anvil.mine()
  const { blockNumber } = await anvil.client.getTransactionReceipt({ hash: transaction as string as Hex })
  const { timestamp } = await anvil.client.getBlock({ blockNumber })
  expect(await outcome(transaction)).toEqual({ kind: 'landed', at: new Date(Number(timestamp) * 1000) })
  expect([draft.amount, await balance(recipient)]).toEqual([7n, before + 7n])
})

test('a transfer that the chain ran and refused is told as reverted, once that is final', async () => {
  const refuser = '0x00000000000000000000000000000000000000bb'
  await anvil.client.setCode({ address: refuser, bytecode: refusing })
  const hash = await anvil.client.sendTransaction({ account: rich, to: refuser, value: 1n, gas: 50_000n })
  await anvil.mine()
  expect(await outcome(toTxId(hash))).toEqual({ kind: 'open', known: true })
  await anvil.mine(2)
  expect(await outcome(toTxId(hash))).toEqual({ kind: 'reverted' })
})

const transferTopic = toEventSelector('Transfer(address,address,uint256)').slice(2)
/** Tells of a transfer of one unit, whatever it is asked for. */
const skimping: Hex = `0x6001600052600435337f${transferTopic}60206000a360206000f3`

test.each<[string, Hex, string]>([
  ['reverted where the token answers no and moves nothing', '0x60206000f3', 'reverted'],
  ['landed where the token moves less than it was asked for', skimping, 'landed'],
])('a token transfer that the chain ran has %s', async (_case, bytecode, kind) => {
  const other = await deployToken(anvil, 'USDC')
  const own = openMainnet(anvil.url, other.address)
  await other.send(liquidity, 100n)
  await anvil.mine()
  const asset = `mainnet/${other.address}` as AssetKey
  const draft = await own.draft({ ...payment, asset, amount: 60n })
  const { transaction } = await sendSigned(own, liquidityBranch, draft)
  await anvil.client.setCode({ address: other.address, bytecode })
  await anvil.mine(3)
  const receipt = await anvil.client.getTransactionReceipt({ hash: transaction as string as Hex })
  expect(receipt.status).toBe('success')
  expect(await outcome(transaction)).toMatchObject({ kind })
})

test('a transfer in a block that the chain no longer has is open', async () => {
  const { transaction } = await sendSigned(network, liquidityBranch, await network.draft(payment))
  await anvil.mine(3)
  const proxy = await startRpcProxy(anvil.url)
  proxy.behave(
    changes('eth_getTransactionReceipt', (receipt) => ({ ...(receipt as object), blockHash: otherHash })),
  )
  const reported = await openMainnet(proxy.url).outcome({ transaction, expiresHeight: null })
  await proxy.stop()
  expect(reported).toEqual({ kind: 'open', known: true })
})

test('drafts that are made side by side ask for the same only once', async () => {
  const proxy = await startRpcProxy(anvil.url)
  const proxied = openMainnet(proxy.url)
  await Promise.all(Array.from({ length: 8 }, () => proxied.draft(payment)))
  await proxy.stop()
  const asked = Map.groupBy(proxy.calls, ({ method }) => method)
  expect(asked.get('eth_estimateGas')).toHaveLength(8)
  for (const method of ['eth_getBlockByNumber', 'eth_maxPriorityFeePerGas', 'eth_call'])
    expect(asked.get(method), method).toHaveLength(1)
  expect(asked.get('eth_getBalance')).toHaveLength(2)
})

test('what the address does not have is not drafted', async () => {
  const order = { ...payment, amount: parseEther('2') }
  await expect(network.draft(order)).rejects.toThrow(/1000000000000000000 of mainnet\/native available/)
  await expect(network.draft({ ...payment, asset: usdc, branch })).rejects.toThrow(/0 of mainnet\/0x/)
  const all = network.draft({ ...payment, amount: parseEther('1') })
  await expect(all, 'the fee is on top').rejects.toThrow(/needed/)
})

test('what the node expects to fail is not drafted, and that is a fault of the remote', async () => {
  const refuser = '0x00000000000000000000000000000000000000bc'
  await anvil.client.setCode({ address: refuser, bytecode: refusing })
  const refused = await network
    .draft({ ...payment, to: parseAddress('evm', refuser) })
    .catch((e: unknown) => e)
  expect(isFault(refused, 'remote_failed')).toBe(true)
  const silent = await openMainnet('http://127.0.0.1:1')
    .draft(payment)
    .catch((e: unknown) => e)
  expect(isFault(silent, 'remote_failed')).toBe(true)
})

/** Counts down from there, and so takes about 26 gas times as much. */
const counting = (from: number): Hex => `0x62${from.toString(16).padStart(6, '0')}5b600190038060045700`

test('no more gas is paid for than a transfer takes, whatever the recipient runs', async () => {
  const greedy = '0x00000000000000000000000000000000000000cd'
  const order = { ...payment, to: parseAddress('evm', greedy) }
  const url = anvil.url
  const tokens = [{ symbol: 'ETH', decimals: 18, code: 'native' }]
  const settings = networkSettings({ name: 'arbitrum', family: 'evm', chainId: 42_161, url, tokens })
  const arbitrum = openEvm(settings, keyring)
  const onArbitrum = { ...order, asset: 'arbitrum/native' as AssetKey }
  await anvil.client.setCode({ address: greedy, bytecode: counting(20_000) })
  await expect(network.draft(order)).rejects.toThrow(/gas; the limit is 200000/)
  await expect(network.gasLack(order)).rejects.toThrow(/the limit is 200000/)
  await expect(arbitrum.draft(onArbitrum)).resolves.toMatchObject({ amount: order.amount })
  await anvil.client.setCode({ address: greedy, bytecode: counting(200_000) })
  await expect(arbitrum.draft(onArbitrum)).rejects.toThrow(/gas; the limit is 3000000/)
  await anvil.client.setCode({ address: greedy, bytecode: counting(2_000) })
  await expect(network.draft(order)).resolves.toMatchObject({ amount: order.amount })
})

test('money that was signed away is not signed away again, sent or not', async () => {
  const order = { ...payment, amount: parseEther('0.6') }
  const nonce = (await network.nextNonce(liquidityBranch)) ?? 0n
  const [first, second] = [await network.draft(order), await network.draft(order)]
  const signed = await first.sign(nonce)
  await expect(async () => second.sign(nonce + 1n)).rejects.toThrow(/insufficient funds/)
  await network.send(signed.bytes)
  await expect(openMainnet(anvil.url).draft(order), 'known to the node alone').rejects.toThrow(
    /insufficient funds/,
  )
  await land(anvil, network, signed)
  await expect(network.draft(order), 'landed').rejects.toThrow(/insufficient funds/)
})

test('a nonce that was signed in vain is signed again for another transfer', async () => {
  const order = { ...payment, amount: parseEther('0.6') }
  const nonce = (await network.nextNonce(liquidityBranch)) ?? 0n
  await (await network.draft(order)).sign(nonce)
  await expect((await network.draft(order)).sign(nonce)).resolves.toMatchObject({ nonce })
  await (await network.draft({ ...order, amount: 1n })).sign(nonce)
  await expect((await network.draft(order)).sign(nonce + 1n)).resolves.toMatchObject({ nonce: nonce + 1n })
})

test('tokens that were signed away are not signed away again', async () => {
  await token.send(address, 100n)
  await anvil.client.setBalance({ address, value: parseEther('1') })
  await anvil.mine()
  const order: TransferOrder = { ...payment, branch, asset: usdc, amount: 60n }
  const [first, second] = [await network.draft(order), await network.draft(order)]
  await first.sign(0n)
  await expect(async () => second.sign(1n)).rejects.toThrow(/40 of mainnet\/0x\w+ available/)
})

test('a native sweep takes its fee from the amount, and what arrives was said before', async () => {
  await anvil.client.setBalance({ address, value: parseEther('0.5') })
  const order: TransferOrder = { ...payment, branch, amount: parseEther('0.5'), feeFrom: 'amount' }
  expect(await network.gasLack(order)).toBe(0n)
  const draft = await network.draft(order)
  const before = await balance(recipient)
  const signed = await sendSigned(network, branch, draft)
  expect(decode(signed).gas, 'as much as it takes').toBe(21_000n)
  expect(draft.amount + decode(signed).feeMax, 'nothing but the fee comes off').toBe(order.amount)
  await land(anvil, network, signed)
  expect(await balance(recipient)).toBe(before + draft.amount)
  expect(await network.balance(branch, native)).toBeLessThan(decode(signed).feeMax)
})

test('a native sweep leaves what was not ordered where it is', async () => {
  await anvil.client.setBalance({ address, value: parseEther('0.5') })
  const order: TransferOrder = { ...payment, branch, amount: parseEther('0.2'), feeFrom: 'amount' }
  const draft = await network.draft(order)
  await land(anvil, network, await sendSigned(network, branch, draft))
  expect(await network.balance(branch, native)).toBeGreaterThanOrEqual(parseEther('0.3'))
})

test('an amount that does not pay for its own transfer is not drafted', async () => {
  await anvil.client.setBalance({ address, value: 21_000n })
  const order: TransferOrder = { ...payment, branch, amount: 21_000n, feeFrom: 'amount' }
  await expect(network.draft(order)).rejects.toThrow('cannot pay the fee of their own transfer')
})

test('a token sweep needs gas; a top-up of what is lacking is enough for it, and leaves no token behind', async () => {
  await token.send(address, 123_456_789n)
  await anvil.mine()
  const order: TransferOrder = { ...payment, branch, asset: usdc, amount: 123_456_789n, feeFrom: 'amount' }
  const lack = await network.gasLack(order)
  expect(lack).toBeGreaterThan(0n)
  await expect(network.draft(order)).rejects.toThrow(/0 wei available/)
  const to = parseAddress('evm', address)
  const topUp = await network.draft({ ...payment, to, amount: lack })
  await land(anvil, network, await sendSigned(network, liquidityBranch, topUp))
  const { baseFeePerGas } = await anvil.client.getBlock()
  await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: ((baseFeePerGas ?? 0n) * 5n) / 4n })
  await anvil.mine()
  expect(await network.gasLack(order), 'a fee a little higher does not ask for more').toBe(0n)
  const draft = await network.draft(order)
  expect(draft.amount).toBe(order.amount)
  await land(anvil, network, await sendSigned(network, branch, draft))
  expect(await network.balance(branch, usdc)).toBe(0n)
})

test('a rollup that takes a fee of its own gets it, and the fee from below may double meanwhile', async () => {
  await anvil.client.setBalance({ address, value: parseEther('0.5') })
  const order: TransferOrder = { ...payment, branch, amount: parseEther('0.5'), feeFrom: 'amount' }
  const without = await network.draft(order)
  const answers = 1_000_000_000_000n
  const bytecode: Hex = `0x7f${numberToHex(answers, { size: 32 }).slice(2)}60005260206000f3`
  const oracle = '0x420000000000000000000000000000000000000F'
  await anvil.client.setCode({ address: oracle, bytecode })
  const { amount } = await network.draft(order)
  await anvil.client.setCode({ address: oracle, bytecode: '0x' })
  expect(amount).toBe(without.amount - 2n * answers)
})

import { type Hex, parseEther } from 'viem'
import { afterAll, beforeEach, expect, test } from 'vitest'
import type { AssetKey } from '../../../src/core/asset.ts'
import { liquidityBranch } from '../../../src/service/keyring/keyring.ts'
import type { NetworkClient, SignedTransfer, TransferOrder } from '../../../src/service/network/port.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'
import { decode, keyring, land, openMainnet, payment, recipient, sendSigned } from './evm-wallet.ts'

const anvil: Anvil = await startAnvil(1)
const token: TestToken = await deployToken(anvil, 'USDC')
const liquidity = keyring.evmAccount(liquidityBranch).address
let network: NetworkClient
let branch = 0
let address: Hex

beforeEach(async () => {
  branch += 1
  address = keyring.evmAccount(branch).address
  await anvil.client.setBalance({ address: liquidity, value: parseEther('10') })
  await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 9n })
  await anvil.mine()
  network = openMainnet(anvil.url, token.address)
})

afterAll(() => anvil.stop())

/** The next block asks for so many times what the newest one asked; none with a lower fee gets in. */
async function raiseBaseFee(times: bigint): Promise<void> {
  const { baseFeePerGas } = await anvil.client.getBlock()
  await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: (baseFeePerGas ?? 0n) * times })
  await anvil.mine()
}

test('a transfer left behind by the base fee lands at a raised one, with nothing else changed', async () => {
  const before = await anvil.client.getBalance({ address: recipient })
  const old = await sendSigned(network, liquidityBranch, await network.draft(payment))
  expect(await network.redraft(old.bytes, payment), 'its fee is good').toBeNull()
  await raiseBaseFee(10n)
  // This node drops what a block left behind; others keep it.
  await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 9n })
  await network.send(old.bytes)
  expect(await network.outcome(old)).toEqual({ kind: 'open', known: true })
  const draft = await network.redraft(old.bytes, payment)
  const raised = await draft?.sign(old.nonce)
  expect.assert(raised !== undefined)
  await network.send(raised.bytes)
  await land(anvil, network, raised)
  expect(await network.outcome(old)).toEqual({ kind: 'open', known: false })
  expect(await anvil.client.getBalance({ address: recipient })).toBe(before + payment.amount)
  expect(unpriced(raised)).toEqual(unpriced(old))
  await raiseBaseFee(200n)
  expect(await network.redraft(raised.bytes, payment), 'its nonce is used').toBeNull()
})

function unpriced(signed: SignedTransfer) {
  const { nonce, to, value, gas, data } = decode(signed)
  return { nonce, to, value, gas, data }
}

test('both fees of a replacement are an eighth higher, also where the market asks for less', async () => {
  await raiseBaseFee(20n)
  const old = await sendSigned(network, liquidityBranch, await network.draft(payment))
  const { maxFeePerGas, maxPriorityFeePerGas = 0n } = decode(old)
  await anvil.client.setNextBlockBaseFeePerGas({ baseFeePerGas: maxFeePerGas + 1n })
  await anvil.mine()
  const raised = await (await network.redraft(old.bytes, payment))?.sign(old.nonce)
  expect.assert(raised !== undefined)
  const fees = decode(raised)
  expect(fees.maxFeePerGas * 8n).toBeGreaterThan(maxFeePerGas * 9n)
  expect((fees.maxPriorityFeePerGas ?? 0n) * 8n).toBeGreaterThan(maxPriorityFeePerGas * 9n)
  await network.send(raised.bytes)
  await land(anvil, network, raised)
})

test('a native sweep pays a raised fee from its amount', async () => {
  await anvil.client.setBalance({ address, value: parseEther('0.5') })
  const order: TransferOrder = { ...payment, branch, amount: parseEther('0.5'), feeFrom: 'amount' }
  const old = await sendSigned(network, branch, await network.draft(order))
  await raiseBaseFee(10n)
  const before = await anvil.client.getBalance({ address: recipient })
  const draft = await network.redraft(old.bytes, order)
  const raised = await draft?.sign(old.nonce)
  expect.assert(draft !== null && raised !== undefined)
  await network.send(raised.bytes)
  await land(anvil, network, raised)
  expect(draft.amount + decode(raised).feeMax).toBe(order.amount)
  expect(await anvil.client.getBalance({ address: recipient })).toBe(before + draft.amount)
})

test('a token transfer is replaced by one of as many tokens', async () => {
  await token.send(liquidity, 100n)
  await anvil.mine()
  const asset = `mainnet/${token.address}` as AssetKey
  const old = await sendSigned(
    network,
    liquidityBranch,
    await network.draft({ ...payment, asset, amount: 60n }),
  )
  await raiseBaseFee(10n)
  const draft = await network.redraft(old.bytes, payment)
  const raised = await draft?.sign(old.nonce)
  expect.assert(draft !== null && raised !== undefined)
  await network.send(raised.bytes)
  await land(anvil, network, raised)
  expect([draft.amount, await network.balance(liquidityBranch, asset)]).toEqual([60n, 40n])
})

test('a fee is raised to what the address can pay, and not where that is too little', async () => {
  await token.send(address, 100n)
  await anvil.mine()
  const asset = `mainnet/${token.address}` as AssetKey
  const order: TransferOrder = { ...payment, branch, asset, amount: 60n }
  await anvil.client.setBalance({ address, value: await network.gasLack(order) })
  const old = await sendSigned(network, branch, await network.draft(order))
  await raiseBaseFee(10n)
  await expect(network.redraft(old.bytes, order)).rejects.toThrow(/needed/)
  await anvil.client.setBalance({ address, value: decode(old).feeMax * 6n })
  const raised = await (await network.redraft(old.bytes, order))?.sign(old.nonce)
  expect.assert(raised !== undefined)
  expect(decode(raised).maxFeePerGas).toBe(decode(old).maxFeePerGas * 6n)
  await network.send(raised.bytes)
  await land(anvil, network, raised)
})

test('what was signed with higher nonces is not spent on a higher fee', async () => {
  const old = await sendSigned(network, liquidityBranch, await network.draft(payment))
  const large = await network.draft({ ...payment, amount: parseEther('9.9998') })
  const later = await large.sign((old.nonce ?? 0n) + 1n)
  await raiseBaseFee(10n)
  await expect(network.redraft(old.bytes, payment)).rejects.toThrow(/needed/)
  const beside = decode(later).feeMax + parseEther('9.9998')
  await anvil.client.setBalance({ address: liquidity, value: beside + 7n + decode(old).feeMax * 6n })
  const raised = await (await network.redraft(old.bytes, payment))?.sign(old.nonce)
  expect.assert(raised !== undefined)
  expect(decode(raised).maxFeePerGas).toBe(decode(old).maxFeePerGas * 6n)
})

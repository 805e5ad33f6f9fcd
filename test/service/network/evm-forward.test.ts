import { type Hex, parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AssetKey, parseAddress, type TxId, toTxId } from '../../../src/core/asset.ts'
import { liquidityBranch, openKeyring } from '../../../src/service/keyring/keyring.ts'
import { openEvm } from '../../../src/service/network/evm.ts'
import type { Network } from '../../../src/service/network/port.ts'
import { type Anvil, rich, startAnvil } from '../../support/anvil.ts'
import { networkSettings, seed } from '../fixtures.ts'

const to = parseAddress('evm', '0x00000000000000000000000000000000000000aa')
const liquidity = openKeyring(seed).evmAccount(liquidityBranch)
const payment = {
  branch: liquidityBranch,
  to,
  asset: 'mainnet/native' as AssetKey,
  reference: '',
  feeFrom: 'payer',
} as const
const native = { symbol: 'ETH', decimals: 18, code: 'native' }

let anvil: Anvil
let network: Network

beforeAll(async () => {
  anvil = await startAnvil(1)
  const chain = { name: 'mainnet', family: 'evm', chainId: 1, url: anvil.url, tokens: [native] } as const
  network = openEvm(networkSettings({ ...chain, tokens: [native] }), openKeyring(seed))
  await anvil.client.setBalance({ address: liquidity.address, value: parseEther('1') })
  await anvil.mine(3)
})

afterAll(() => anvil.stop())

const outcome = (transaction: TxId) => network.outcome({ transaction, expiresHeight: null })

test('a forward is open until its block is final, and known from when it was sent', async () => {
  const order = { ...payment, amount: 7n }
  const { transaction, bytes } = await (await network.draft(order)).sign(
    await network.nextNonce(liquidityBranch),
  )
  expect(await outcome(transaction)).toEqual({ kind: 'open', known: false })
  await network.send(bytes)
  expect(await outcome(transaction)).toEqual({ kind: 'open', known: true })
  await anvil.mine(2)
  expect(await outcome(transaction), 'mined, not final').toEqual({ kind: 'open', known: true })
  await anvil.mine()
  const { blockNumber } = await anvil.client.getTransactionReceipt({ hash: transaction as string as Hex })
  const { timestamp } = await anvil.client.getBlock({ blockNumber })
  expect(await outcome(transaction)).toEqual({ kind: 'landed', at: new Date(Number(timestamp) * 1000) })
  expect(await anvil.client.getBalance({ address: '0x00000000000000000000000000000000000000aa' })).toBe(7n)
})

test('a forward that the chain ran and refused is told as reverted, once that is final', async () => {
  // Code that refuses whatever it is called with.
  const refusing = '0x00000000000000000000000000000000000000bb'
  await anvil.client.setCode({ address: refusing, bytecode: '0x60006000fd' })
  const hash = await anvil.client.sendTransaction({ account: rich, to: refusing, value: 1n, gas: 50_000n })
  await anvil.mine()
  expect(await outcome(toTxId(hash))).toEqual({ kind: 'open', known: true })
  await anvil.mine(2)
  expect(await outcome(toTxId(hash))).toEqual({ kind: 'reverted' })
})

test('a forward that the node expects to fail is not drafted', async () => {
  const amount = parseEther('2')
  const order = { ...payment, amount }
  await expect(network.draft(order)).rejects.toThrow('are needed')
})

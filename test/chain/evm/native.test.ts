import { type Hex, parseEther } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { coinEmitter } from '../../../src/chain/evm/node.ts'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import { transferTopic } from '../../../src/chain/evm/transfer-log.ts'
import type { BalanceMovement, ScanCursor, ScanResult } from '../../../src/chain/types.ts'
import { assetKey } from '../../../src/core/asset.ts'
import { type Anvil, rich, startAnvil } from '../../support/anvil.ts'
import { addresses, base, evmSettings } from '../../support/evm-watch.ts'
import { changes, type RpcProxy, type Script, startRpcProxy } from '../../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'

const depositor = '0x00000000000000000000000000000000000A11cE'
const wallet = '0x00000000000000000000000000000000000c0de1'
const payer = '0x00000000000000000000000000000000000C0dE2'
const watched = addresses(depositor, wallet)

let anvil: Anvil
let token: TestToken
let proxy: RpcProxy
let start: ScanCursor

beforeAll(async () => {
  anvil = await startAnvil()
  token = await deployToken(anvil, 'USDC')
  proxy = await startRpcProxy(anvil.url)
  await anvil.client.impersonateAccount({ address: depositor })
  await anvil.client.setCode({ address: coinEmitter as Hex, bytecode: emitterCode })
  await anvil.client.setCode({ address: wallet, bytecode: walletCode })
  await anvil.client.setCode({ address: payer, bytecode: payerCode })
})
afterAll(async () => {
  await proxy.stop()
  await anvil.stop()
})
beforeEach(async () => {
  await anvil.client.setBalance({ address: depositor, value: parseEther('10') })
  await anvil.mine(4)
  start = (await scan({ cursor: null })).cursor
})
afterEach(() => proxy.behave())

/** Calls the coin's emitter with who paid, itself and how much, as a chain with EIP-7708 does of its own. */
const walletCode: Hex = `0x335f5230602052346040525f5f60605f5f73${coinEmitter.slice(2)}5af100`
/** Logs `Transfer(from, to, value)` of the three words it is called with. */
const emitterCode: Hex = `0x6040355f526020355f357f${transferTopic.slice(2)}60205fa300`
/** Hands on what it is paid to the wallet, by a call that no transaction shows. */
const payerCode: Hex = `0x5f5f5f5f3473${wallet.slice(2)}5af100`

function scan({
  cursor = start,
  script,
}: {
  cursor?: ScanCursor | null
  script?: Script
} = {}): Promise<ScanResult> {
  proxy.behave(script)
  const reader = createEvmReader(evmSettings({ ...anvil, url: proxy.url }, { tokens: [token.address] }))
  return reader.scan({ cursor, startHeight: null, watched })
}

async function spend(transaction: { to?: Hex; value?: bigint; data?: Hex; gas?: bigint }): Promise<Hex> {
  const request = { ...transaction, account: depositor, chain: null, gas: 200_000n } as const
  const tx = await anvil.client.sendTransaction(request)
  await anvil.mine(1)
  return tx
}

function total(movements: readonly BalanceMovement[]): bigint {
  return movements.reduce((sum, { change }) => sum + change, 0n)
}

test('what a watched address sends is its value and its fee, and no transfer', async () => {
  const tx = await spend({ to: rich.address, value: 7n })
  await anvil.mine(2)
  const { transfers, movements } = await scan()
  const { gasUsed, effectiveGasPrice, blockHash, blockNumber } = await anvil.client.getTransactionReceipt({
    hash: tx,
  })
  const place = {
    network: base,
    tx,
    asset: assetKey(base, 'native'),
    address: depositor.toLowerCase(),
    height: blockNumber,
    blockHash,
  }
  expect(transfers).toEqual([])
  expect(movements).toEqual([
    { ...place, index: 'native', change: -7n, recipients: [rich.address.toLowerCase()] },
    { ...place, index: 'fee', change: -gasUsed * effectiveGasPrice, recipients: [] },
  ])
})

test('movements and transfers together are what the balance changed by', async () => {
  const before = await anvil.client.getBalance({ address: depositor })
  await spend({ to: rich.address, value: parseEther('1') })
  await spend({ to: depositor, value: 5n })
  await spend({ data: '0x00', value: 3n })
  await anvil.client.sendTransaction({ to: depositor, value: 11n })
  const failed = await spend({ to: token.address, value: 1n })
  expect((await anvil.client.getTransactionReceipt({ hash: failed })).status).toBe('reverted')
  await anvil.mine(3)
  const { transfers, movements } = await scan()
  const received = transfers.reduce((sum, { amount }) => sum + amount, 0n)
  const after = await anvil.client.getBalance({ address: depositor })
  expect(received).toBe(11n)
  expect(total(movements) + received).toBe(after - before)
  expect(movements.filter(({ tx }) => tx === failed).map(({ index }) => index)).toEqual(['fee'])
})

test('what is not final yet moves nothing, for it may still vanish', async () => {
  await spend({ to: rich.address, value: 7n })
  expect((await scan()).movements).toEqual([])
})

test('the part of a fee for the parent chain counts, where a receipt names it', async () => {
  await spend({ to: rich.address, value: 7n })
  await anvil.mine(2)
  const plain = await scan()
  const onRollup = await scan({
    script: changes('eth_getTransactionReceipt', (receipt) => ({ ...(receipt as object), l1Fee: '0x64' })),
  })
  expect(total(onRollup.movements) - total(plain.movements)).toBe(-100n)
})

test('what a rollup mints to the sender of a deposit is his, though the deposit fails', async () => {
  const tx = await spend({ to: token.address, value: 1n })
  await anvil.mine(2)
  const minted = changes('eth_getBlockByNumber', (block) => {
    const { transactions } = block as { transactions: (object | string)[] }
    const deposits = transactions.map((one) => (typeof one === 'string' ? one : { ...one, mint: '0x2a' }))
    return { ...(block as object), transactions: deposits }
  })
  const { transfers } = await scan({ script: minted })
  expect(transfers.map(({ tx: found, index, from, amount }) => [found, index, from, amount])).toEqual([
    [tx, 'mint', null, 42n],
  ])
})

test('a payment that the chain also logs (EIP-7708) is told once, as the payment of its transaction', async () => {
  const tx = await anvil.client.sendTransaction({ to: wallet, value: 5n, gas: 100_000n })
  await anvil.mine(3)
  const { logs } = await anvil.client.getTransactionReceipt({ hash: tx })
  expect(logs.map(({ address }) => address)).toEqual([coinEmitter])
  const { transfers } = await scan()
  expect(transfers.map(({ tx: found, index, asset, amount }) => [found, index, asset, amount])).toEqual([
    [tx, 'native', 'base/native', 5n],
  ])
  const reader = createEvmReader(evmSettings(anvil, { tokens: [] }))
  const read = await reader.readTransaction(tx.toLowerCase() as never, watched)
  expect(read).toEqual({ kind: 'read', transfers })
})

test('a payment that a contract makes is found by the log of the coin (EIP-7708)', async () => {
  const tx = await anvil.client.sendTransaction({ to: payer, value: 6n, gas: 200_000n })
  await anvil.mine(3)
  const { transfers } = await scan()
  expect(
    transfers.map(({ tx: found, index, from, asset, amount }) => [found, index, from, asset, amount]),
  ).toEqual([[tx, '0', payer.toLowerCase(), 'base/native', 6n]])
})

test('logs of the coin say nothing where the coin is not among the assets', async () => {
  await anvil.client.sendTransaction({ to: wallet, value: 5n, gas: 100_000n })
  await anvil.mine(3)
  const reader = createEvmReader(evmSettings(anvil, { tokens: [token.address], native: false }))
  expect((await reader.scan({ cursor: start, startHeight: null, watched })).transfers).toEqual([])
})

test('the voice of the coin is refused as a token', async () => {
  const reader = createEvmReader(evmSettings(anvil, { tokens: [coinEmitter] }))
  await expect(reader.scan({ cursor: start, startHeight: null, watched })).rejects.toThrow(
    /EIP-7708.*not a token/,
  )
})

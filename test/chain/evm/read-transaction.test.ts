import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import type { TransactionReading } from '../../../src/chain/types.ts'
import { toTxId } from '../../../src/core/asset.ts'
import { type Anvil, rich, startAnvil } from '../../support/anvil.ts'
import { addresses, drain, evmSettings } from '../../support/evm-watch.ts'
import { changes, type RpcProxy, type Script, startRpcProxy } from '../../support/rpc-proxy.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'

const depositor = '0x00000000000000000000000000000000000A11cE'
const otherHash = `0x${'ab'.repeat(32)}`

let anvil: Anvil
let token: TestToken
let proxy: RpcProxy

beforeAll(async () => {
  anvil = await startAnvil()
  token = await deployToken(anvil, 'USDC')
  proxy = await startRpcProxy(anvil.url)
})
afterAll(async () => {
  await proxy.stop()
  await anvil.stop()
})
afterEach(() => proxy.behave())

function readerOf(native = true) {
  const settings = { ...evmSettings(anvil, { tokens: [token.address], native }), rpcUrls: [proxy.url] }
  return createEvmReader(settings)
}

function readTransaction(tx: string, watched = addresses(depositor)): Promise<TransactionReading> {
  return readerOf().readTransaction(toTxId(tx), watched)
}

test('a transaction is unknown until it is in a block, seen there, and final with that block', async () => {
  const tx = await token.send(depositor, 5n)
  expect(await readTransaction(tx)).toEqual({ kind: 'unknown' })
  await anvil.mine()
  expect(await readTransaction(tx)).toMatchObject({
    kind: 'read',
    transfers: [{ stage: 'seen', amount: 5n }],
  })
  await anvil.mine(2)
  expect(await readTransaction(tx)).toMatchObject({
    kind: 'read',
    transfers: [{ stage: 'final', amount: 5n }],
  })
})

test('a transaction tells exactly what a scan tells, for a token and for the native coin', async () => {
  await anvil.mine(4)
  const { cursor } = await drain(readerOf(), addresses(depositor), { cursor: null })
  const paid = [
    await token.send(depositor, 7n),
    await anvil.client.sendTransaction({ to: depositor, value: 8n }),
  ]
  await anvil.mine(3)
  const { transfers } = await drain(readerOf(), addresses(depositor), { cursor })
  const readings = await Promise.all(paid.map((tx) => readTransaction(tx)))
  expect(readings.flatMap((one) => (one.kind === 'read' ? one.transfers : []))).toEqual(transfers)
  expect(transfers).toHaveLength(2)
})

test('a payment to somebody else, of no value or to the payer is no transfer, though the transaction is there', async () => {
  const { client } = anvil
  const toOther = await token.send('0x0000000000000000000000000000000000000B0b', 5n)
  const ofNothing = await client.sendTransaction({ to: depositor, value: 0n })
  const toItself = await client.sendTransaction({ to: rich.address, value: 5n })
  const deployed = await client.sendTransaction({ data: '0x00', value: 0n })
  await anvil.mine()
  for (const tx of [toOther, ofNothing, toItself, deployed]) {
    const reading = await readTransaction(tx, addresses(depositor, rich.address))
    expect(reading).toEqual({ kind: 'read', transfers: [] })
  }
})

test('the native coin is not told where it is not among the assets', async () => {
  const tx = await anvil.client.sendTransaction({ to: depositor, value: 8n })
  await anvil.mine()
  const reading = await readerOf(false).readTransaction(toTxId(tx), addresses(depositor))
  expect(reading).toEqual({ kind: 'read', transfers: [] })
})

test('a failed transaction is told once that is final, and until then is unknown', async () => {
  const tx = await anvil.client.sendTransaction({ to: token.address, value: 1n, gas: 100_000n })
  await anvil.mine()
  const height = await anvil.client.getBlockNumber()
  expect(await readTransaction(tx)).toEqual({ kind: 'unknown' })
  await anvil.mine(2)
  expect(await readTransaction(tx, addresses(depositor, token.address))).toEqual({ kind: 'failed', height })
})

test('what a rollup minted to the sender of a deposit is told, though the deposit failed', async () => {
  const tx = await anvil.client.sendTransaction({ to: token.address, value: 1n, gas: 100_000n })
  await anvil.mine(3)
  proxy.behave(
    changes('eth_getTransactionByHash', (transaction) => ({ ...(transaction as object), mint: '0x2a' })),
  )
  const reading = await readTransaction(tx, addresses(rich.address))
  expect(reading).toMatchObject({
    kind: 'read',
    transfers: [{ stage: 'final', index: 'mint', to: rich.address.toLowerCase(), amount: 42n }],
  })
})

test.each<[string, Script, RegExp]>([
  [
    'a receipt of another transaction',
    changes('eth_getTransactionReceipt', (receipt) => ({
      ...(receipt as object),
      transactionHash: otherHash,
    })),
    /belongs to another transaction/,
  ],
  [
    'a receipt of another block',
    changes('eth_getTransactionReceipt', (receipt) => ({ ...(receipt as object), blockHash: otherHash })),
    /another block/,
  ],
  [
    'a log that was removed',
    changes('eth_getTransactionReceipt', (receipt) => ({
      ...(receipt as object),
      logs: [{ removed: true }],
    })),
    /was removed/,
  ],
  [
    'a transaction of another block',
    changes('eth_getTransactionByHash', (transaction) => ({
      ...(transaction as object),
      blockHash: otherHash,
    })),
    /another block/,
  ],
])('a node that answers %s is not believed', async (_what, script, problem) => {
  const tx = await anvil.client.sendTransaction({ to: depositor, value: 8n })
  await anvil.mine(3)
  proxy.behave(script)
  await expect(readTransaction(tx)).rejects.toThrow(problem)
})

test('a transaction that a reorganisation dropped is unknown again', async () => {
  const tx = await token.send(depositor, 5n)
  await anvil.mine()
  expect(await readTransaction(tx)).toMatchObject({ kind: 'read' })
  await anvil.reorg(1)
  expect(await readTransaction(tx)).toEqual({ kind: 'unknown' })
})

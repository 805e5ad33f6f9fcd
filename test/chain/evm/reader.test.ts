import { parseEther } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createEvmReader } from '../../../src/chain/evm/reader.ts'
import type { ChainReader, ScanCursor } from '../../../src/chain/types.ts'
import { type Anvil, rich, startAnvil } from '../../support/anvil.ts'
import { addresses, drain, evmSettings } from '../../support/evm-watch.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'

const depositor = '0x00000000000000000000000000000000000A11cE'
const watched = addresses(depositor)

let anvil: Anvil
let token: TestToken
let reader: ChainReader

beforeAll(async () => {
  anvil = await startAnvil()
  token = await deployToken(anvil, 'USDC')
  reader = createEvmReader(evmSettings(anvil, { tokens: [token.address] }))
})
afterAll(() => anvil.stop())

/** A cursor at the final head, with nothing of earlier tests above it. */
async function settle(): Promise<ScanCursor> {
  await anvil.mine(4)
  return (await drain(reader, watched, { cursor: null })).cursor
}

test('the first scan without a start height begins above the final head', async () => {
  await anvil.mine(5)
  const head = await anvil.client.getBlockNumber()
  const { cursor, transfers } = await drain(reader, watched, { cursor: null })
  const final = await anvil.client.getBlock({ blockNumber: head - 2n })
  expect(cursor).toEqual({ final: { height: head - 2n, hash: final.hash }, seenHeight: head, trail: [] })
  expect(transfers).toEqual([])
})

test('a token transfer is seen at once and final only when its block is', async () => {
  const start = await settle()
  const tx = await token.send(depositor, 123n)
  await anvil.mine()
  const seen = await drain(reader, watched, { cursor: start })
  const receipt = await anvil.client.getTransactionReceipt({ hash: tx })
  const { timestamp } = await anvil.client.getBlock({ blockHash: receipt.blockHash })
  const transfer = {
    network: 'base',
    tx,
    index: '0',
    asset: `base/${token.address}`,
    from: rich.address.toLowerCase(),
    to: depositor.toLowerCase(),
    amount: 123n,
    height: receipt.blockNumber,
    blockHash: receipt.blockHash,
    blockAt: new Date(Number(timestamp) * 1000),
  }
  expect(seen.transfers).toEqual([{ ...transfer, stage: 'seen' }])
  await anvil.mine()
  const almost = await drain(reader, watched, { cursor: seen.cursor })
  expect(almost.transfers.filter(({ stage }) => stage === 'final')).toEqual([])
  await anvil.mine()
  const final = await drain(reader, watched, { cursor: almost.cursor })
  expect(final.transfers).toContainEqual({ ...transfer, stage: 'final' })
  expect(final.cursor.final.height).toBe(receipt.blockNumber)
})

test('a native transfer is found, a failed one is not', async () => {
  const start = await settle()
  const owners = addresses(depositor, token.address)
  const paid = await anvil.client.sendTransaction({ to: depositor, value: parseEther('1') })
  const failed = await anvil.client.sendTransaction({ to: token.address, value: 1n, gas: 100_000n })
  await anvil.mine(3)
  expect((await anvil.client.getTransactionReceipt({ hash: failed })).status).toBe('reverted')
  const { transfers } = await drain(reader, owners, { cursor: start })
  expect(transfers.map(({ tx, index, asset, amount }) => ({ tx, index, asset, amount }))).toEqual([
    { tx: paid, index: 'native', asset: 'base/native', amount: 10n ** 18n },
  ])
})

test('what moves nothing is no transfer: no value, or to the sender', async () => {
  const start = await settle()
  await token.send(depositor, 0n)
  await token.send(rich.address, 5n)
  await anvil.client.sendTransaction({ to: rich.address, value: 5n })
  await anvil.client.sendTransaction({ to: depositor, value: 0n })
  await anvil.mine(3)
  const { transfers } = await drain(reader, addresses(depositor, rich.address), { cursor: start })
  expect(transfers).toEqual([])
})

test('a fake token with the same symbol is not the token', async () => {
  const fake = await deployToken(anvil, 'USDC')
  const start = await settle()
  await fake.send(depositor, 5n)
  await anvil.mine(3)
  expect((await drain(reader, watched, { cursor: start })).transfers).toEqual([])
})

test('two transfers in one block keep their own log indexes', async () => {
  const start = await settle()
  await token.send(depositor, 1n)
  await token.send(depositor, 2n)
  await anvil.mine(3)
  const { transfers } = await drain(reader, watched, { cursor: start })
  expect(transfers.map(({ index, amount }) => [index, amount])).toEqual([
    ['0', 1n],
    ['1', 2n],
  ])
})

test('a reorganisation above the final block withdraws what was seen', async () => {
  const start = await settle()
  await token.send(depositor, 7n)
  await anvil.mine()
  const seen = await drain(reader, watched, { cursor: start })
  expect(seen.transfers).toHaveLength(1)
  await anvil.reorg(1)
  await anvil.mine(4)
  const later = await drain(reader, watched, { cursor: seen.cursor })
  expect(later.transfers).toEqual([])
  expect(later.rewinds).toEqual([])
})

test('history that changed beyond everything remembered stops the network and says how to resume', async () => {
  const { final } = await settle()
  const foreign = { final: { ...final, hash: `0x${'00'.repeat(32)}` }, seenHeight: final.height, trail: [] }
  await expect(drain(reader, watched, { cursor: foreign })).rejects.toThrow(
    /history_lost: network "base".*RPC_BASE.*depositd backfill --network base --from HEIGHT/,
  )
})

test('reading that begins at a height finds what lies above it', async () => {
  const before = await anvil.client.getBlockNumber()
  const tx = await token.send(depositor, 9n)
  await anvil.mine(5)
  const { transfers } = await drain(reader, watched, { cursor: null, startHeight: before + 1n })
  expect(transfers.map((transfer) => [transfer.stage, transfer.tx])).toEqual([['final', tx]])
})

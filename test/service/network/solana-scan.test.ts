import { address as kitAddress, lamports } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { afterAll, beforeEach, expect, test } from 'vitest'
import type { Address } from '../../../src/core/asset.ts'
import { liquidityBranch } from '../../../src/service/keyring/keyring.ts'
import { positionAt } from '../../../src/service/network/block-scan.ts'
import { call, send, sign, signVersion1, untilFinal } from '../../sandbox/solana/client.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'
import { honest } from '../../support/rpc-proxy.ts'
import { until } from '../../support/until.ts'
import { holdsFinalAt, keyring, some, startScanner } from './solana-scanner.ts'

const scanner = await startScanner(temporaryFolderOfFile())
const { rpc, proxy, payer } = scanner

beforeEach(() => scanner.begin())
afterAll(() => scanner.stop())

const transfer = (amount: bigint) =>
  getTransferSolInstruction({ source: payer, destination: kitAddress(scanner.address), amount })
/** Requests for blocks with their transactions. */
const blockReads = () =>
  proxy.calls.flatMap(({ method, params: [slot, config] }) =>
    method === 'getBlock' && (config as { transactionDetails: string }).transactionDetails === 'accounts'
      ? [BigInt(slot as number)]
      : [],
  )

test('a payment is told as seen, and again as final, in the same block', async () => {
  proxy.behave(holdsFinalAt(scanner.position.finalHeight))
  const signature = await scanner.pay()
  const seen = await until('it is seen', async () => (await scanner.scan()).payments[0] ?? null)
  const { address } = scanner
  expect(seen).toMatchObject({
    transaction: signature,
    index: `native:${address}`,
    asset: 'solana/native',
    sender: payer.address,
    address,
    amount: some,
    final: false,
  })
  proxy.behave(honest)
  const slot = await scanner.slotOf(signature)
  expect([seen.block, seen.blockHash]).toEqual([slot, await scanner.hashOf(slot)])
  const reported = await scanner.readThrough(slot)
  expect(reported.filter(({ final }) => final)).toEqual([{ ...seen, final: true }])
  expect(
    blockReads().filter((read) => read === slot),
    'its block is read once',
  ).toHaveLength(1)
})

test('10,000 addresses cost no more requests than ten', async () => {
  const otherAddresses = Array.from({ length: 10_000 }, (_, place) => `${place}`.padStart(32, '1') as Address)
  const final = await scanner.slotOf(await scanner.pay())
  // So few blocks that one scan reads them all, however many there are by now.
  const begin = positionAt({ height: final - 40n, hash: await scanner.hashOf(final - 40n) })
  proxy.behave(({ method }, forward) => (method === 'getSlot' ? { result: Number(final) } : forward()))
  const requests = []
  for (const watched of [otherAddresses.slice(0, 10), otherAddresses]) {
    scanner.position = begin
    proxy.calls.length = 0
    expect((await scanner.scan([...watched, scanner.address])).payments).toHaveLength(1)
    requests.push(proxy.calls.length)
  }
  const blocks = Number(final - begin.finalHeight)
  expect(requests).toEqual([4 + blocks, 4 + blocks])
})

test('which addresses are watched is asked once the heights are known', async () => {
  let asked: string[] = []
  await scanner.network.scan(scanner.position, () => {
    asked = proxy.calls.map(({ method }) => method)
    return Promise.resolve(new Set([scanner.address]))
  })
  expect(asked).toEqual(['getSlot', 'getSlot'])
})

test('one scan reads a bounded number of blocks, and tells that more are waiting', async () => {
  const first = scanner.position.finalHeight - 600n
  const hash = await scanner.hashOf(first)
  scanner.position = { finalHeight: first, finalHash: hash, seenHeight: first, seenHash: hash }
  expect((await scanner.scan()).more).toBe(true)
  expect(scanner.position).toMatchObject({ finalHeight: first + 128n, seenHeight: first + 256n })
  expect(blockReads()).toHaveLength(256)
  await until('everything is read', async () => !(await scanner.scan()).more || null)
  expect(scanner.position.finalHeight).toBeGreaterThanOrEqual(first + 600n)
})

test('a transaction that failed moved nothing, and every version of transactions is read', async () => {
  const failing = await sign(rpc, { payer, instructions: [transfer(some), transfer(some * 1000n)] })
  await call(scanner.url, 'sendTransaction', failing, { encoding: 'base64', skipPreflight: true })
  const legacy = await send(rpc, { payer, instructions: [transfer(some + 1n)], version: 'legacy' })
  const wire = await signVersion1(rpc, { payer, instructions: [transfer(some + 2n)] })
  const newest = await rpc.sendTransaction(wire, { encoding: 'base64' }).send()
  const reported = await scanner.readThrough(await scanner.slotOf(newest))
  const final = reported.filter((payment) => payment.final)
  expect(final.map(({ transaction, amount }) => [transaction, amount])).toEqual([
    [legacy, some + 1n],
    [newest, some + 2n],
  ])
})

test('a transaction of which the node says that it failed is no payment, whatever its balances say', async () => {
  proxy.behave(async ({ method }, forward) => {
    const { result } = await forward()
    const { transactions = [], ...rest } = result as { transactions?: { meta: object }[] }
    const failed = transactions.map((one) => ({ ...one, meta: { ...one.meta, err: 'AccountInUse' } }))
    return { result: method === 'getBlock' ? { ...rest, transactions: failed } : result }
  })
  expect(await scanner.readThrough(await scanner.slotOf(await scanner.pay()))).toEqual([])
})

test('what the liquidity wallet pays is no deposit', async () => {
  const liquidity = await keyring.solanaSigner(liquidityBranch)
  await untilFinal(rpc, await rpc.requestAirdrop(liquidity.address, lamports(some * 5n)).send())
  await scanner.slotOf(await scanner.pay(some, liquidity))
  const other = await scanner.pay(some * 2n)
  const reported = await scanner.readThrough(await scanner.slotOf(other))
  expect(new Set(reported.map(({ transaction }) => transaction))).toEqual(new Set([other]))
})

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Blockhash, generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SandboxSolanaNode, startSolana } from '../../../src/sandbox/solana/node.ts'
import { until } from '../../support/until.ts'
import {
  anyAddress,
  call,
  connect,
  fundedSigner,
  type Rpc,
  send,
  sign,
  signVersion1,
  untilFinal,
} from './client.ts'

let folder: string
let node: SandboxSolanaNode
let rpc: Rpc
let payer: KeyPairSigner

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd-solana-'))
  node = await startSolana({ folder, slotMs: 100, log: pino({ level: 'silent' }) })
  rpc = connect(node.url)
  payer = await fundedSigner(rpc)
})

afterAll(async () => {
  await node.stop()
  await rm(folder, { recursive: true, force: true })
})

test('slots follow the clock, and the commitments lag behind them', async () => {
  // The hindmost first: the clock goes on between the questions.
  const finalized = await rpc.getSlot({ commitment: 'finalized' }).send()
  const confirmed = await rpc.getSlot({ commitment: 'confirmed' }).send()
  const processed = await rpc.getSlot({ commitment: 'processed' }).send()
  expect(processed).toBeGreaterThanOrEqual(confirmed)
  expect(confirmed - finalized).toBeGreaterThanOrEqual(2n)
  await until(
    'the slot moves on',
    async () => (await rpc.getSlot({ commitment: 'finalized' }).send()) > finalized || null,
  )
})

test('the latest blockhash of a commitment is that of the block in its slot', async () => {
  const { context, value } = await rpc.getLatestBlockhash().send()
  const block = await rpc.getBlock(context.slot, { transactionDetails: 'none', rewards: false }).send()
  expect(block).toMatchObject({ blockhash: value.blockhash, blockHeight: context.slot })
  expect(await rpc.getBlockTime(context.slot).send()).toBe(block?.blockTime)
  expect((await rpc.isBlockhashValid(value.blockhash).send()).value).toBe(true)
  expect(await rpc.getBlocks(context.slot - 2n, context.slot).send()).toHaveLength(3)
})

test('a block holds the transactions of its slot', async () => {
  const signature = await pay(1_000_000n)
  await untilFinal(rpc, signature)
  const { result } = await call(node.url, 'getTransaction', signature, { maxSupportedTransactionVersion: 0 })
  const { slot } = result as { slot: number }
  const config = { maxSupportedTransactionVersion: 0, transactionDetails: 'full' }
  const block = await call(node.url, 'getBlock', slot, config)
  expect(block.result).toMatchObject({ transactions: [{ transaction: { signatures: [signature] } }] })
})

test('a block tells which accounts its transactions have and what became of them, without what they say', async () => {
  const signature = await pay(1_000_000n)
  await untilFinal(rpc, signature)
  const known = { maxSupportedTransactionVersion: 1 }
  const { slot, meta, transaction } = (await call(node.url, 'getTransaction', signature, known))
    .result as Transaction
  const wanted = { ...known, rewards: false, transactionDetails: 'accounts' }
  const { transactions } = (await call(node.url, 'getBlock', slot, wanted)).result as {
    transactions: unknown
  }
  const accountKeys = transaction.message.accountKeys.map((pubkey, place) => ({
    pubkey,
    signer: place === 0,
    source: 'transaction',
    writable: place < 2,
  }))
  expect(transactions).toEqual([
    {
      version: 0,
      meta: Object.fromEntries(partsOfMeta.map((part) => [part, meta[part]])),
      transaction: { accountKeys, signatures: [signature] },
    },
  ])
  const unversioned = await call(node.url, 'getBlock', slot, { transactionDetails: 'accounts' })
  expect(unversioned.error?.code).toBe(-32015)
})

const partsOfMeta = 'err status fee preBalances postBalances preTokenBalances postTokenBalances'.split(' ')

type Transaction = {
  slot: number
  meta: Record<string, unknown>
  transaction: { message: { accountKeys: string[] } }
}

test('blocks are listed from a slot on, so many at most and none that is not final', async () => {
  const final = await rpc.getSlot({ commitment: 'finalized' }).send()
  const list = (first: bigint, limit: number) =>
    rpc.getBlocksWithLimit(first, limit, { commitment: 'finalized' }).send()
  expect(await list(final - 5n, 3)).toEqual([final - 5n, final - 4n, final - 3n])
  expect((await list(final - 1n, 1000)).length).toBeLessThan(100)
  expect(await list(final + 1000n, 3)).toEqual([])
  expect(await rpc.getEpochInfo().send()).toMatchObject({ epoch: 0n })
})

test('signatures are listed newest first and in pages, and an unknown `until` is passed over in silence', async () => {
  const payee = await generateKeyPairSigner()
  const sent = []
  for (const amount of [1_000_000n, 1_000_001n, 1_000_002n, 1_000_003n]) sent.push(await pay(amount, payee))
  const newestFirst = sent.toReversed()
  await untilFinal(rpc, newestFirst[0] ?? '')
  const list = async (config: object): Promise<string[]> => {
    const { result } = await call(node.url, 'getSignaturesForAddress', payee.address, config)
    return (result as { signature: string }[]).map(({ signature }) => signature)
  }
  expect(await list({})).toEqual(newestFirst)
  expect(await list({ limit: 2 })).toEqual(newestFirst.slice(0, 2))
  expect(await list({ limit: 2, before: newestFirst[1] })).toEqual(newestFirst.slice(2))
  expect(await list({ until: newestFirst[2] })).toEqual(newestFirst.slice(0, 2))
  expect(await list({ until: 'unknown' })).toEqual(newestFirst)
  expect(await list({ before: 'unknown' })).toEqual([])
})

test.for([
  ['an unknown method', 'getVoteAccounts', [], -32601],
  ['an address that is none', 'getBalance', ['0OIl'], -32602],
  [
    'a commitment below confirmed',
    'getSignaturesForAddress',
    [anyAddress, { commitment: 'processed' }],
    -32602,
  ],
  ['a minimum slot of the future', 'getBalance', [anyAddress, { minContextSlot: 1e12 }], -32016],
  ['a block of the future', 'getBlock', [1e12], -32004],
  ['a mint that is none', 'getTokenAccountsByOwner', [anyAddress, { mint: anyAddress }], -32602],
  ['a transaction that is none', 'sendTransaction', ['AAAA', { encoding: 'base64' }], -32602],
] as const)('%s is answered with the error code of a real node', async ([, method, parameters, code]) => {
  expect((await call(node.url, method, ...parameters)).error?.code).toBe(code)
})

test('a versioned transaction is not handed to whoever does not know versions', async () => {
  const signature = await pay(1_000_000n)
  await untilFinal(rpc, signature)
  expect((await call(node.url, 'getTransaction', signature)).error?.code).toBe(-32015)
})

test('a transaction of version 1 is run, and handed to whoever knows that version', async () => {
  const payee = await generateKeyPairSigner()
  const wire = await signVersion1(rpc, { payer, instructions: [transferOf(1_000_000n, payee.address)] })
  const signature = await rpc.sendTransaction(wire, { encoding: 'base64' }).send()
  await untilFinal(rpc, signature)
  const read = (maxSupportedTransactionVersion: number) =>
    call(node.url, 'getTransaction', signature, { maxSupportedTransactionVersion })
  expect((await read(0)).error?.code).toBe(-32015)
  expect((await read(1)).result).toMatchObject({ version: 1, meta: { err: null, fee: 5000 } })
})

test('a transaction with an unknown blockhash, one that was sent before and one that is not signed are refused', async () => {
  const instructions = [transferOf(1_000_000n, payer.address)]
  const outsider = 'EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N' as Blockhash
  const unknown = await sign(rpc, { payer, instructions, blockhash: outsider })
  const options = { encoding: 'base64' }
  expect((await call(node.url, 'sendTransaction', unknown, options)).error).toMatchObject({
    code: -32002,
    message: 'Transaction simulation failed: Blockhash not found',
  })
  const wire = await sign(rpc, { payer, instructions })
  expect((await call(node.url, 'sendTransaction', wire, options)).error).toBeUndefined()
  expect((await call(node.url, 'sendTransaction', wire, options)).error).toMatchObject({
    code: -32002,
    data: { err: 'AlreadyProcessed' },
  })
  const bytes = Buffer.from(wire, 'base64')
  bytes.fill(7, 1, 65)
  expect((await call(node.url, 'sendTransaction', bytes.toString('base64'), options)).error?.code).toBe(
    -32003,
  )
})

test('a simulation tells the outcome and changes nothing', async () => {
  const before = await rpc.getBalance(payer.address, { commitment: 'processed' }).send()
  const wire = await sign(rpc, { payer, instructions: [transferOf(1_000_000n, anyAddress)] })
  const { value } = await rpc.simulateTransaction(wire, { encoding: 'base64' }).send()
  expect(value.unitsConsumed).toBeGreaterThan(0n)
  const after = await rpc.getBalance(payer.address, { commitment: 'processed' }).send()
  expect(after.value).toBe(before.value)
})

test('several calls in one request are answered in their order', async () => {
  const body = JSON.stringify([
    { jsonrpc: '2.0', id: 1, method: 'getHealth' },
    { jsonrpc: '2.0', id: 2, method: 'getNothing' },
  ])
  const response = await fetch(node.url, { method: 'POST', body })
  expect(await response.json()).toEqual([
    { jsonrpc: '2.0', id: 1, result: 'ok' },
    { jsonrpc: '2.0', id: 2, error: { code: -32601, message: 'Method not found' } },
  ])
})

function transferOf(amount: bigint, destination: KeyPairSigner['address']) {
  return getTransferSolInstruction({ source: payer, destination, amount })
}

async function pay(amount: bigint, payee?: KeyPairSigner) {
  const to = payee ?? (await generateKeyPairSigner())
  return send(rpc, { payer, instructions: [transferOf(amount, to.address)] })
}

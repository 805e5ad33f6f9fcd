import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createSolanaRpc, generateKeyPairSigner, lamports } from '@solana/kit'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { startSolana } from '../../../src/sandbox/solana/node.ts'
import { createSlots } from '../../../src/sandbox/solana/slots.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { runProgram } from '../../support/programs.ts'
import { call, untilFinal } from './client.ts'

const log = pino({ level: 'silent' })

test('what was answered survives a kill, with its slot, history and balances', async () => {
  const folder = await temporaryFolder()
  const first = await runProgram('test/sandbox/fixtures/start-solana.ts', folder)
  const payee = await generateKeyPairSigner()
  const rpcBefore = createSolanaRpc(first.line)
  const amount = lamports(3_000_000_000n)
  const signature = await rpcBefore.requestAirdrop(payee.address, amount).send()
  const genesis = await rpcBefore.getGenesisHash().send()
  await first.killHard()

  const node = await startSolana({ folder, log })
  const rpc = createSolanaRpc(node.url)
  expect(await rpc.getGenesisHash().send()).toBe(genesis)
  await untilFinal(rpc, signature)
  expect((await rpc.getBalance(payee.address).send()).value).toBe(amount)
  const [listed] = await rpc.getSignaturesForAddress(payee.address).send()
  expect(listed?.signature).toBe(signature)
  const read = await call(node.url, 'getTransaction', signature, { maxSupportedTransactionVersion: 0 })
  expect(read.result).toMatchObject({ slot: Number(listed?.slot), meta: { err: null, fee: 5000 } })
  await rpc.requestAirdrop(payee.address, amount).send()
  expect((await rpc.getBalance(payee.address, { commitment: 'processed' }).send()).value).toBe(amount * 2n)
  await node.stop()
})

test('a line that was torn by a kill is dropped, and the next one is whole', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'transactions.jsonl')
  const payee = await generateKeyPairSigner()
  for (const expected of [1_000_000n, 2_000_000n, 3_000_000n]) {
    const node = await startSolana({ folder, slotMs: 50, log })
    const rpc = createSolanaRpc(node.url)
    await rpc.requestAirdrop(payee.address, lamports(1_000_000n)).send()
    expect((await rpc.getBalance(payee.address, { commitment: 'processed' }).send()).value).toBe(expected)
    await node.stop()
    await appendFile(file, '{"signature":"torn","slot":')
  }
  const lines = (await readFile(file, 'utf8')).split('\n')
  expect(lines.slice(0, -1).map((line) => typeof JSON.parse(line))).toEqual(['object', 'object', 'object'])
})

test('a clock that is put back makes no slot come twice', () => {
  let now = 10_000
  const slots = createSlots({ genesisMs: 0, slotMs: 100, confirmedLag: 1, finalizedLag: 4 }, () => now)
  expect(slots.at('processed')).toBe(100)
  now = 5000
  expect(slots.at('processed')).toBe(100)
  now = 10_100
  expect([slots.at('processed'), slots.at('confirmed'), slots.at('finalized')]).toEqual([101, 100, 97])
})

test('after a restart within one slot, and with a clock that was put back, blockhashes can be used', () => {
  const slots = createSlots({ genesisMs: 0, slotMs: 100, confirmedLag: 1, finalizedLag: 4 }, () => 5000)
  slots.notBefore(100)
  expect(slots.at('processed')).toBe(100)
  for (const slot of [96, 100]) expect(slots.usableSlotOf(slots.blockhashOf(slot))).toBe(slot)
})

test('a blockhash can be used for a hundred and fifty slots', () => {
  let now = 100_000
  const slots = createSlots({ genesisMs: 0, slotMs: 100, confirmedLag: 1, finalizedLag: 4 }, () => now)
  const hash = slots.blockhashOf(slots.at('processed'))
  now += 150 * 100
  expect(slots.usableSlotOf(hash)).toBe(1000)
  now += 100
  expect(slots.usableSlotOf(hash)).toBeNull()
  expect(slots.usableSlotOf(slots.blockhashOf(slots.at('processed') + 1))).toBeNull()
})

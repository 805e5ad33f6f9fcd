import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Address, generateKeyPairSigner, lamports } from '@solana/kit'
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintSize,
  getMintToInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SandboxSolanaNode, startSolana } from '../../../src/sandbox/solana/node.ts'
import { token2022ProgramAddress } from '../../../src/sandbox/solana/token-state.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { call, connect, fundedSigner, type Rpc, send, sign, untilFinal } from './client.ts'

const log = pino({ level: 'silent' })
let folder: string
let node: SandboxSolanaNode
let rpc: Rpc

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd-solana-'))
  node = await startSolana({ folder, slotMs: 100, log })
  rpc = connect(node.url)
})

afterAll(async () => {
  await node.stop()
  await rm(folder, { recursive: true, force: true })
})

test('a transfer of lamports is read back with its slot, time, fee and balances before and after', async () => {
  const payer = await fundedSigner(rpc)
  const payee = await generateKeyPairSigner()
  const amount = 1_000_000_000n
  const transfer = getTransferSolInstruction({ source: payer, destination: payee.address, amount })
  const signature = await send(rpc, { payer, instructions: [transfer] })
  await untilFinal(rpc, signature)
  expect((await rpc.getBalance(payee.address, { commitment: 'finalized' }).send()).value).toBe(amount)
  const listed = await rpc.getSignaturesForAddress(payee.address).send()
  expect(listed).toMatchObject([{ signature, err: null, confirmationStatus: 'finalized' }])
  const { slot, blockTime, meta, accounts, ...rest } = await readTransaction(signature)
  expect(listed).toMatchObject([{ slot, blockTime }])
  expect(rest).toMatchObject({ version: 0 })
  expect(meta).toMatchObject({ err: null, fee: 5000n, preTokenBalances: [], postTokenBalances: [] })
  const place = accounts.indexOf(payee.address)
  expect([meta.preBalances[place], meta.postBalances[place]]).toEqual([0n, amount])
  expect(sum(meta.preBalances)).toBe(sum(meta.postBalances) + 5000n)
})

test('what is not final yet is seen only by whoever asks for less', async () => {
  const neverFinal = { slotMs: 100, confirmedLag: 0, finalizedLag: 1_000_000 }
  const other = await startSolana({ folder: await temporaryFolder(), log, ...neverFinal })
  const { address } = await generateKeyPairSigner()
  const otherRpc = connect(other.url)
  const signature = await otherRpc.requestAirdrop(address, lamports(1_000_000n)).send()
  const config = { encoding: 'json', maxSupportedTransactionVersion: 0 } as const
  const asked = async (commitment: 'confirmed' | 'finalized') => ({
    balance: (await otherRpc.getBalance(address, { commitment }).send()).value,
    listed: (await otherRpc.getSignaturesForAddress(address, { commitment }).send()).length,
    isReadable: (await otherRpc.getTransaction(signature, { ...config, commitment }).send()) !== null,
  })
  expect(await asked('confirmed')).toEqual({ balance: 1_000_000n, listed: 1, isReadable: true })
  expect(await asked('finalized')).toEqual({ balance: 0n, listed: 0, isReadable: false })
  await other.stop()
})

test.for([
  ['spl-token', TOKEN_PROGRAM_ADDRESS],
  ['spl-token-2022', token2022ProgramAddress],
] as const)('a transfer of %s tokens is read back by owner and mint', async ([program, tokenProgram]) => {
  const payer = await fundedSigner(rpc)
  const { mint, account } = await mintTo(payer, tokenProgram)
  const payee = await generateKeyPairSigner()
  const [destination] = await findAssociatedTokenPda({ owner: payee.address, mint, tokenProgram })
  const transfer = getTransferCheckedInstruction(
    { source: account, mint, destination, authority: payer, amount: 1_500_000n, decimals: 6 },
    { programAddress: tokenProgram },
  )
  const create = { payer, ata: destination, owner: payee.address, mint, tokenProgram }
  const instructions = [getCreateAssociatedTokenIdempotentInstruction(create), transfer]
  const signature = await send(rpc, { payer, instructions })
  await untilFinal(rpc, signature)

  const read = await rpc
    .getTransaction(signature, { encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 })
    .send()
  const received = read?.meta?.postTokenBalances?.find(({ owner }) => owner === payee.address)
  expect(received).toMatchObject({
    mint,
    programId: tokenProgram,
    uiTokenAmount: { amount: '1500000', decimals: 6, uiAmount: 1.5, uiAmountString: '1.5' },
  })
  expect(read?.meta?.preTokenBalances?.some(({ owner }) => owner === payee.address)).toBe(false)
  expect(read?.transaction.message.instructions.at(-1)).toMatchObject({
    program,
    parsed: { type: 'transferChecked', info: { source: account, destination, mint } },
  })
  const signatures = await rpc.getSignaturesForAddress(destination).send()
  expect(signatures.map((one) => one.signature)).toEqual([signature])
  expect(await rpc.getSignaturesForAddress(payee.address).send()).toHaveLength(1)

  for (const filter of [{ mint }, { programId: tokenProgram }]) {
    const { value } = await rpc
      .getTokenAccountsByOwner(payee.address, filter, { encoding: 'jsonParsed' })
      .send()
    expect(value).toMatchObject([
      {
        pubkey: destination,
        account: { owner: tokenProgram, data: { program, parsed: { info: { mint } } } },
      },
    ])
  }
  const other = tokenProgram === TOKEN_PROGRAM_ADDRESS ? token2022ProgramAddress : TOKEN_PROGRAM_ADDRESS
  const none = await rpc
    .getTokenAccountsByOwner(payee.address, { programId: other }, { encoding: 'base64' })
    .send()
  expect(none.value).toEqual([])
  expect((await rpc.getTokenAccountBalance(destination).send()).value.amount).toBe('1500000')
})

test('a transaction that fails is refused before it is run, and is kept with its fee where that was not wanted', async () => {
  const payer = await fundedSigner(rpc)
  const payee = await generateKeyPairSigner()
  const tooMuch = lamports(50_000_000_000n)
  const transfer = getTransferSolInstruction({ source: payer, destination: payee.address, amount: tooMuch })
  const wire = await sign(rpc, { payer, instructions: [transfer] })
  const refused = await call(node.url, 'sendTransaction', wire, { encoding: 'base64' })
  const err = { InstructionError: [0, { Custom: 1 }] }
  expect(refused.error).toMatchObject({ code: -32002, data: { err } })
  expect((await rpc.getBalance(payer.address, { commitment: 'processed' }).send()).value).toBe(5_000_000_000n)

  const kept = await call(node.url, 'sendTransaction', wire, { encoding: 'base64', skipPreflight: true })
  const signature = kept.result as Parameters<Rpc['getTransaction']>[0]
  await untilFinal(rpc, signature)
  const read = await call(node.url, 'getTransaction', signature, { maxSupportedTransactionVersion: 0 })
  expect(read.result).toMatchObject({ meta: { err, status: { Err: err }, fee: 5000 } })
  expect((await rpc.getBalance(payer.address).send()).value).toBe(5_000_000_000n - 5000n)
  expect(await rpc.getSignaturesForAddress(payee.address).send()).toMatchObject([{ signature, err: {} }])
})

/** A mint of six decimals with ten of its tokens in the payer's account. */
async function mintTo(payer: Awaited<ReturnType<typeof fundedSigner>>, tokenProgram: Address) {
  const mint = await generateKeyPairSigner()
  const space = BigInt(getMintSize())
  const rent = await rpc.getMinimumBalanceForRentExemption(space).send()
  const [account] = await findAssociatedTokenPda({ owner: payer.address, mint: mint.address, tokenProgram })
  const program = { programAddress: tokenProgram }
  const instructions = [
    getCreateAccountInstruction({ payer, newAccount: mint, lamports: rent, space, ...program }),
    getInitializeMint2Instruction({ mint: mint.address, decimals: 6, mintAuthority: payer.address }, program),
    getCreateAssociatedTokenIdempotentInstruction({
      payer,
      ata: account,
      owner: payer.address,
      mint: mint.address,
      tokenProgram,
    }),
    getMintToInstruction(
      { mint: mint.address, token: account, mintAuthority: payer, amount: 10_000_000n },
      program,
    ),
  ]
  await send(rpc, { payer, instructions })
  return { mint: mint.address, account }
}

async function readTransaction(signature: Parameters<Rpc['getTransaction']>[0]) {
  const config = { encoding: 'json', maxSupportedTransactionVersion: 0 } as const
  const read = await rpc.getTransaction(signature, config).send()
  if (read === null || read.meta === null) throw new Error(`${signature} is not there`)
  return { ...read, meta: read.meta, accounts: read.transaction.message.accountKeys }
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, amount) => total + amount, 0n)
}

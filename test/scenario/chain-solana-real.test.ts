import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Address, createSolanaRpc, generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import { getCreateAccountInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeAccount3Instruction,
  getMintToInstruction,
  getRecoverNestedAssociatedTokenInstruction,
  getTransferCheckedInstruction,
} from '@solana-program/token'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSolana } from '../../src/sandbox/solana/node.ts'
import type { WatchedOnSolana } from '../oracle/solana-chain.ts'
import { type DaemonOnAnvil, startDaemonOnAnvil } from '../support/daemon-on-anvil.ts'
import { holdInvariants } from '../support/hold-invariants.ts'
import { openWallet, type SolanaWallet } from '../support/solana-wallet.ts'
import { makeMint, mintBytes, token2022Program, transferFee } from '../support/token-2022.ts'
import { until } from '../support/until.ts'

/** One percent of each transfer is withheld. */
const extensions = [transferFee(100, 5000n)]
/** Of an account whose mint withholds fees. */
const accountBytes = 178n
const token2022 = { programAddress: token2022Program }

const stack = new AsyncDisposableStack()
let url: string
let wallet: SolanaWallet
let mint: KeyPairSigner
let depositor: KeyPairSigner
/** The associated accounts of who pays and of who is paid. */
let [from, to] = ['' as Address, '' as Address]
let world: DaemonOnAnvil
let onSolana: WatchedOnSolana

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'depositd-real-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const node = await startSolana({ folder, slotMs: 200, finalizedLag: 4, log: pino({ level: 'silent' }) })
  stack.defer(() => node.stop())
  url = node.url
  wallet = await openWallet(url)
  ;[mint, depositor] = [await generateKeyPairSigner(), await generateKeyPairSigner()]
  const space = mintBytes(extensions)
  await wallet.send([await allocate(mint, space), ...makeMint(mint, wallet.signer.address, extensions)])
  ;[from, to] = [await makeAssociated(wallet.signer.address), await makeAssociated(depositor.address)]
  await mintTo(from, 1_000_000_000n)
  const reported = { name: 'solana', chainId: null, urls: [url], token: mint.address }
  world = await startDaemonOnAnvil([{ ...reported, address: depositor.address }], stack)
  const { height } = await until('Solana is read', () => world.cursor('solana'))
  const { address } = depositor
  onSolana = { network: 'solana', rpcUrl: url, address, mint: mint.address, from: height }
})
afterAll(() => stack.disposeAsync())

async function allocate(account: KeyPairSigner, space: bigint) {
  const rent = await createSolanaRpc(url).getMinimumBalanceForRentExemption(space).send()
  const made = { payer: wallet.signer, newAccount: account, lamports: rent, space }
  return getCreateAccountInstruction({ ...made, ...token2022 })
}

async function makeAssociated(owner: Address): Promise<Address> {
  const seeds = { owner, mint: mint.address, tokenProgram: token2022Program }
  const [ata] = await findAssociatedTokenPda(seeds)
  await wallet.send([getCreateAssociatedTokenIdempotentInstruction({ payer: wallet.signer, ata, ...seeds })])
  return ata
}

function minting(token: Address, amount: bigint) {
  return getMintToInstruction({ mint: mint.address, token, mintAuthority: wallet.signer, amount }, token2022)
}

const mintTo = (token: Address, amount: bigint) => wallet.send([minting(token, amount)])

function transferring(source: Address, destination: Address, { authority, amount }: Transferring) {
  const moved = { source, mint: mint.address, destination, authority, amount, decimals: 6 }
  return getTransferCheckedInstruction(moved, token2022)
}
type Transferring = { authority: KeyPairSigner; amount: bigint }

/** What is booked of a transaction, as asset and amount. */
async function booked(tx: string): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat(t.asset, ' ', t.amount) as line from ledger_journal j
    join ledger_transfer t on t.journal_id = j.id
    where j.kind = 'deposit' and split_part(j.transfer, '/', 2) = ${tx} order by 1`.execute(world.db)
  return rows.map(({ line }) => line)
}

const tokens = (amount: bigint) => `solana/${mint.address} ${amount}`

test('of a token that withholds a fee, what arrived is booked, and what was sent is known', async () => {
  const tx = await wallet.send([transferring(from, to, { authority: wallet.signer, amount: 100_000n })])
  await expect.poll(() => booked(tx)).toEqual([tokens(99_000n)])
  const { rows } = await sql<{ sent: string }>`
    select convert_from(body, 'utf8')::jsonb ->> 'sent' as sent from inbox
    where source = 'chain' and source_key like ${`%${tx}%`}`.execute(world.db)
  expect(rows).toContainEqual({ sent: '100000' })
})

test('what a program moves within itself is booked', async () => {
  const nested = await makeAssociated(to)
  await mintTo(nested, 7000n)
  const recovering = getRecoverNestedAssociatedTokenInstruction({
    nestedAssociatedAccountAddress: nested,
    nestedTokenMintAddress: mint.address,
    destinationAssociatedAccountAddress: to,
    ownerAssociatedAccountAddress: to,
    ownerTokenMintAddress: mint.address,
    walletAddress: depositor,
    tokenProgram: token2022Program,
  })
  const tx = await wallet.send([recovering])
  await expect.poll(() => booked(tx)).toContainEqual(tokens(6930n))
})

test('a transaction that gives and then fails is not booked', async () => {
  const tx = await wallet.sendFailing(depositor.address)
  const after = await wallet.payLamports(depositor.address, 2_000_000_000n)
  await expect.poll(() => booked(after)).toEqual(['solana/native 2000000000'])
  expect(await booked(tx)).toEqual([])
})

test('an account that was filled, emptied and closed leaves what came to it, and its rent is no deposit', async () => {
  const made = await generateKeyPairSigner()
  const [account, owner] = [made.address, depositor.address]
  const paid = await wallet.send([
    await allocate(made, accountBytes),
    getInitializeAccount3Instruction({ account, mint: mint.address, owner }, token2022),
    minting(account, 500n),
  ])
  const closed = await wallet.send([
    transferring(account, from, { authority: depositor, amount: 500n }),
    getCloseAccountInstruction({ account, destination: owner, owner: depositor }, token2022),
  ])
  const after = await wallet.payLamports(owner, 2_000_000_001n)
  await expect.poll(() => booked(after)).toEqual(['solana/native 2000000001'])
  await expect.poll(() => booked(paid)).toEqual([tokens(500n)])
  expect(await booked(closed)).toEqual([])
})

test('the books hold what was paid, each payment once, and every slot was read', async () => {
  await world.daemon.stop()
  await holdInvariants(world, onSolana)
})

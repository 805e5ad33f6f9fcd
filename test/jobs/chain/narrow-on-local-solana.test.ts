import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKeyPairSigner } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { getCloseAccountInstruction, getTransferInstruction } from '@solana-program/token'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSolanaReader } from '../../../src/chain/solana/reader.ts'
import type { NetworkSettings } from '../../../src/chain/types.ts'
import { type Address, assetKey, type NetworkName } from '../../../src/core/asset.ts'
import { proveBalances } from '../../../src/jobs/chain/prove-balances.ts'
import { scanNetwork } from '../../../src/jobs/chain/scan.ts'
import { type SandboxSolanaNode, startSolana } from '../../../src/sandbox/solana/node.ts'
import { pinAssets } from '../../../src/store/assets.ts'
import { saveOwner } from '../../../src/store/owners.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at } from '../../support/evidence.ts'
import { type RpcProxy, startRpcProxy } from '../../support/rpc-proxy.ts'
import { openWallet, type SolanaWallet } from '../../support/solana-wallet.ts'
import { until } from '../../support/until.ts'

const network = 'solana' as NetworkName

let folder: string
let node: SandboxSolanaNode
let proxy: RpcProxy
let wallet: SolanaWallet
let settings: NetworkSettings
let books: Books
let minutes = 0

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd-solana-'))
  node = await startSolana({ folder, slotMs: 50, finalizedLag: 4, log: pino({ level: 'silent' }) })
  proxy = await startRpcProxy(node.url)
  wallet = await openWallet(node.url)
  const mint = wallet.mint as string as Address
  const usdc = { key: assetKey(network, mint), network, symbol: 'USDC', decimals: 6 }
  const sol = { key: assetKey(network, 'native'), network, symbol: 'SOL', decimals: 9 }
  settings = { name: network, family: 'solana', chainId: null, rpcUrls: [proxy.url], assets: [usdc, sol] }
  books = await openBooks()
  await pinAssets(books.db, settings.assets)
})
afterEach(async () => {
  await proxy.stop()
  await node.stop()
  await rm(folder, { recursive: true })
  await books[Symbol.asyncDispose]()
})

const deps = () => ({ db: books.db, holder: 'me', leaseMs: 600_000, now: () => at(minutes++) })

async function scan(): Promise<void> {
  const assets = new Map([[network, settings.assets.map(({ key }) => key)]])
  const reader = createSolanaReader(settings)
  while ((await scanNetwork({ ...deps(), startHeights: new Map(), assets }, reader))?.more) continue
}

/**
 * Proves every balance at a slot that is final by now, or a later one. Balances are of a slot behind the one that was
 * scanned, so that they wait for the next scan.
 */
async function prove(): Promise<void> {
  const { at: now } = await createSolanaReader(settings).readBalances({ pairs: [], at: null })
  await until('all is proved', async () => {
    await scan()
    const proved = await proveBalances(deps(), { reader: createSolanaReader(settings), settings })
    expect(proved).toMatchObject({ problems: [] })
    const { rows } = await sql`select 1 from balance_point where height < ${now.height}`.execute(books.db)
    const { rows: all } = await sql`select 1 from balance_point`.execute(books.db)
    return all.length === 2 && rows.length === 0 ? true : null
  })
}

async function unexplained(): Promise<unknown[]> {
  const { rows } = await sql`
    select asset, value, detail from mismatch
    where kind = 'unexplained_balance' and cleared_at is null order by asset`.execute(books.db)
  return rows
}

type Reported = { signature?: string; transaction?: { signatures: string[] } }

function hide(signature: string, alsoInBlocks: boolean): void {
  const isReported = (one: Reported) => (one.signature ?? one.transaction?.signatures[0]) !== signature
  proxy.behave(async ({ method }, forward) => {
    const answer = await forward()
    if (method === 'getSignaturesForAddress')
      return { result: (answer.result as Reported[]).filter(isReported) }
    const { transactions } = (answer.result ?? {}) as { transactions?: Reported[] }
    if (method !== 'getBlock' || transactions === undefined || !alsoInBlocks) return answer
    return { result: { ...(answer.result as object), transactions: transactions.filter(isReported) } }
  })
}

/** Pays one owner into several accounts, of which one is closed again; the signatures of the payments of tokens. */
async function payOwner(): Promise<string[]> {
  const owner = await generateKeyPairSigner()
  await saveOwner(books.db, {
    owner: { kind: 'stable_wallet', id: 'lab' },
    deposits: [{ network, address: owner.address as string as Address }],
    forward: null,
  })
  // An address that holds something before it is proved at all is taken to have held it all along.
  await prove()
  const account = await wallet.createAssociatedAccount(owner.address)
  const other = await wallet.createTokenAccount(owner.address)
  await wallet.payLamports(owner.address, 2_000_000_000n)
  const paid = [await wallet.payTokens(account, 5n), await wallet.payTokens(other, 7n)]
  await wallet.send([
    getTransferInstruction({ source: other, destination: account, authority: owner, amount: 7n }),
    getCloseAccountInstruction({ account: other, destination: owner.address, owner }),
    getTransferSolInstruction({ source: owner, destination: wallet.signer.address, amount: 1000n }),
  ])
  paid.push(await wallet.payTokens(account, 9n))
  const last = await wallet.payTokens(account, 1n)
  await until('finality', () => wallet.isFinal(last))
  return paid
}

async function slotOf(signature: string): Promise<bigint> {
  const { rows } = await sql<{ height: bigint }>`
    select height from chain_transfer where transfer like ${`%${signature}%`} limit 1`.execute(books.db)
  return rows[0]?.height ?? 0n
}

test('a payment to one of several accounts, left out by the list, is found in its block and booked', async () => {
  const paid = await payOwner()
  hide(paid[2] ?? '', false)
  await prove()
  expect(await unexplained()).toEqual([])
  await books.settle()
  const { rows } =
    await sql`select amount from deposit where state = 'confirmed' order by amount::numeric`.execute(books.db)
  expect(rows.map((row) => (row as { amount: string }).amount)).toEqual(['1', '5', '7', '9', '2000000000'])
})

test('a payment that is nowhere to be read lies between the two that the chain tells', async () => {
  const paid = await payOwner()
  hide(paid[0] ?? '', true)
  await prove()
  const [open] = (await unexplained()) as [{ value: string; detail: { blocks: string } }]
  expect(open.value).toBe('5')
  const [first = 0n, last = 0n] = open.detail.blocks.split('-').map(BigInt)
  proxy.behave()
  minutes += 61
  await prove()
  expect(await unexplained()).toEqual([])
  const [hidden, behind] = [await slotOf(paid[0] ?? ''), await slotOf(paid[2] ?? '')]
  expect(hidden > first && hidden < last).toBe(true)
  expect(last).toBeLessThan(behind)
})

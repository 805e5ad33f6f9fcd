import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createReader } from '../../../src/chain/reader.ts'
import type { Address, AssetKey, TxId } from '../../../src/core/asset.ts'
import type { Claim } from '../../../src/core/evidence.ts'
import type { Amount } from '../../../src/core/money.ts'
import { scanNetwork } from '../../../src/jobs/chain/scan.ts'
import { searchLegs } from '../../../src/jobs/chain/search-legs.ts'
import { verifyTransactions } from '../../../src/jobs/chain/verify-transactions.ts'
import { pinAssets } from '../../../src/store/assets.ts'
import { saveOwner } from '../../../src/store/owners.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { claim, policy } from '../../support/evidence.ts'
import { type PayingChain, startPayingAnvil, startPayingSolana } from '../../support/paying-chains.ts'

const hour = 3_600_000

describe.each([
  ['anvil', startPayingAnvil],
  ['a local Solana', startPayingSolana],
])('on %s', (_name, start) => {
  let chain: PayingChain
  let reader: ReturnType<typeof createReader>
  let books: Books
  let deposit: Address
  let recipient: Address
  /** By how much the clock is ahead. */
  let ahead: number

  const now = () => new Date(Date.now() + ahead)

  beforeAll(async () => {
    chain = await start()
  })
  afterAll(() => chain[Symbol.asyncDispose]())

  beforeEach(async () => {
    const { name, assets } = chain.settings
    ahead = 0
    reader = createReader(chain.settings)
    const senders = new Set([`${name}/${chain.payer}`])
    books = await openBooks({ readNetworks: new Set([name]), rules: { policy, routes: [], senders }, now })
    await pinAssets(books.db, assets)
    deposit = await chain.newAddress()
    recipient = await chain.newAddress()
  })
  afterEach(() => books[Symbol.asyncDispose]())

  const keepOwner = () =>
    saveOwner(books.db, {
      owner: { kind: 'channel', id: 'real' },
      deposits: [{ network: chain.settings.name, address: deposit }],
      forward: { network: chain.settings.name, asset: 'USDC', recipient },
    })

  async function scan(): Promise<void> {
    const { name, assets } = chain.settings
    const read = new Map([[name, assets.map(({ key }) => key)]])
    const deps = { db: books.db, holder: 'me', leaseMs: 60_000, startHeights: new Map(), assets: read, now }
    while ((await scanNetwork(deps, reader))?.more) continue
    await books.settle()
  }

  /** @returns how many chain transfers and failures are new */
  async function verify(): Promise<number> {
    const stored = await verifyTransactions({ db: books.db, now, mayRead: () => true }, reader)
    await books.settle()
    return stored
  }

  /** What the service says: 100 were paid, and 99 are delivered. */
  async function report(status: Claim['status'], paid: TxId, delivered: TxId | null = null): Promise<void> {
    const network = chain.settings.name
    const asset = chain.settings.assets[0]?.key as AssetKey
    const said = {
      status,
      owner: { kind: 'channel', id: 'real' } as const,
      deposit: { network, address: deposit, asset, amount: 100n as Amount, tx: paid, index: null },
      settlement: {
        network,
        address: recipient,
        asset,
        amount: 99n as Amount,
        tx: delivered,
        fee: 1n as Amount,
      },
      occurredAt: now(),
      receivedAt: now(),
    }
    await books.receive(claim({ ...said, source: 'webhook' }), claim(said))
    await books.settle()
  }

  /** State, the chain's cells of both legs, and what is open. */
  async function reported(): Promise<string[]> {
    const { rows } = await sql<{ text: string }>`
      select concat_ws(' ', state, matrix -> 'deposit' ->> 'chain', matrix -> 'settlement' ->> 'chain', (
        select string_agg(kind, ' ' order by kind) from mismatch where cleared_at is null
      )) as text from deposit where merged_into is null order by id`.execute(books.db)
    return rows.map(({ text }) => text)
  }

  test('both legs are read by the transactions that are named for them, before any scan', async () => {
    await keepOwner()
    await scan()
    const paid = await chain.pay(deposit, 100n)
    await chain.finalize(paid)
    await report('observed', paid)
    expect(await reported()).toEqual(['observed absent absent'])
    expect(await verify()).toBe(1)
    expect(await reported()).toEqual(['observed present absent'])
    await scan()
    expect(await reported()).toEqual(['confirmed agrees absent'])

    const delivered = await chain.pay(recipient, 99n)
    await chain.finalize(delivered)
    await report('settled', paid, delivered)
    expect(await reported()).toEqual(['settling agrees absent'])
    expect(await verify()).toBe(1)
    expect(await reported()).toEqual(['settling agrees present'])
    await scan()
    expect(await reported()).toEqual(['reconciled agrees agrees'])
  })

  test('a delivery that nobody names is found at the recipient, and belongs to its deposit once it is named', async () => {
    await keepOwner()
    await scan()
    const paid = await chain.pay(deposit, 100n)
    const delivered = await chain.pay(recipient, 99n)
    await chain.finalize(delivered)
    await report('settled', paid)
    await scan()
    expect(await reported()).toEqual(['settling agrees absent'])
    ahead = 2 * hour
    await books.settle()
    let asked = 0
    const deps = { db: books.db, now, mayRead: () => ++asked > 0 }
    await searchLegs(deps, reader)
    await searchLegs(deps, reader)
    // Named transactions share the limit of requests: a search takes a share of it only for what is due.
    expect(asked).toBe(1)
    await books.settle()
    expect(await reported()).toEqual(['settling agrees absent settlement_missing settlement_unreported'])
    await report('settled', paid, delivered)
    expect(await reported()).toEqual(['reconciled agrees agrees'])
    expect(await verify()).toBe(0)
  })
})

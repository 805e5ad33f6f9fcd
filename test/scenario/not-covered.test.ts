import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createReader } from '../../src/chain/reader.ts'
import type { Address, AssetKey, TxId } from '../../src/core/asset.ts'
import type { ServiceId } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import type { Policy } from '../../src/core/policy.ts'
import { backfillByHand } from '../../src/jobs/chain/backfill-by-hand.ts'
import { scanNetwork } from '../../src/jobs/chain/scan.ts'
import { searchLegs } from '../../src/jobs/chain/search-legs.ts'
import { verifyTransactions } from '../../src/jobs/chain/verify-transactions.ts'
import { pinAssets } from '../../src/store/assets.ts'
import { saveOwner } from '../../src/store/owners.ts'
import { type Books, openBooks } from '../support/books.ts'
import { claim, policy } from '../support/evidence.ts'
import { type PayingChain, startPayingAnvil, startPayingSolana } from '../support/paying-chains.ts'

const hour = 3_600_000
const owner = { kind: 'channel', id: 'older' } as const

describe.each([
  ['anvil', startPayingAnvil],
  ['a local Solana', startPayingSolana],
])('on %s', (_name, start) => {
  let chain: PayingChain
  let books: Books
  let deposit: Address
  let recipient: Address
  let paid: TxId
  let delivered: TxId
  let urls: readonly string[]
  /** By how much the clock is ahead. */
  let ahead: number

  const now = () => new Date(Date.now() + ahead)
  const reader = () => createReader({ ...chain.settings, rpcUrls: [...urls] })

  beforeAll(async () => {
    chain = await start()
  })
  afterAll(() => chain[Symbol.asyncDispose]())

  /** A deposit was paid and delivered before anything is read. */
  beforeEach(async () => {
    ahead = 0
    urls = chain.settings.rpcUrls
    await open(policy)
    deposit = await chain.newAddress()
    recipient = await chain.newAddress()
    paid = await chain.pay(deposit, 100n)
    delivered = await chain.pay(recipient, 99n)
    await chain.finalize(delivered)
    await scan()
  })
  afterEach(() => books[Symbol.asyncDispose]())

  async function open(rule: Policy): Promise<void> {
    const { name, assets } = chain.settings
    const rules = { policy: rule, routes: [], senders: new Set([`${name}/${chain.payer}`]) }
    books = await openBooks({ readNetworks: new Set([name]), rules, now })
    await pinAssets(books.db, assets)
  }

  const scanDeps = () => {
    const { name, assets } = chain.settings
    const read = new Map([[name, assets.map(({ key }) => key)]])
    return { db: books.db, holder: 'me', leaseMs: 60_000, startHeights: new Map(), assets: read, now }
  }

  async function scan(): Promise<void> {
    while ((await scanNetwork(scanDeps(), reader()))?.more) continue
    await books.settle()
  }

  /** Reads what is named, and searches for what is due. */
  async function search(): Promise<void> {
    await books.settle()
    const deps = { db: books.db, now, mayRead: () => true }
    await verifyTransactions(deps, reader())
    await searchLegs(deps, reader())
    await books.settle()
  }

  const importOwner = () =>
    saveOwner(books.db, {
      owner,
      deposits: [{ network: chain.settings.name, address: deposit }],
      forward: { network: chain.settings.name, asset: 'USDC', recipient },
    })

  const backfill = (from: bigint) =>
    backfillByHand(scanDeps(), reader(), { requested: { from, to: null }, report: () => undefined })

  /** The service lists a deposit of 100 as settled with 99. */
  async function list(serviceId: string, tx: TxId | null, settledBy: TxId | null): Promise<void> {
    const network = chain.settings.name
    const asset = chain.settings.assets[0]?.key as AssetKey
    const amounts = { amount: 99n as Amount, fee: 1n as Amount }
    const record = {
      serviceId: serviceId as ServiceId,
      owner,
      deposit: { network, address: deposit, asset, amount: 100n as Amount, tx, index: null },
      settlement: { network, address: recipient, asset, tx: settledBy, ...amounts },
      occurredAt: now(),
      receivedAt: now(),
    }
    await books.receive(claim({ ...record, source: 'webhook' }), claim(record))
    await books.settle()
  }

  /** A transaction id that no transaction has. */
  const unsent = () => `${paid.slice(0, -4)}${paid.endsWith('1111') ? '2222' : '1111'}` as TxId

  /** Each deposit's state with what is open. */
  async function reported(): Promise<string[]> {
    const { rows } = await sql<{ text: string }>`
      select concat_ws(' ', service_id, state, (
        select string_agg(kind, ' ' order by kind) from mismatch where deposit_id = deposit.id and cleared_at is null
      )) as text from deposit where merged_into is null order by service_id`.execute(books.db)
    return rows.map(({ text }) => text)
  }

  async function detailOf(kind: string): Promise<Record<string, string>> {
    const { rows } = await sql<{ detail: Record<string, string> }>`
      select detail from mismatch where kind = ${kind} and cleared_at is null`.execute(books.db)
    expect(rows).toHaveLength(1)
    return rows[0]?.detail ?? {}
  }

  test('deposits from before the start, at addresses that are not in the book, are not covered and never missing', async () => {
    await list('before', paid, delivered)
    await search()
    expect(await reported()).toEqual(['before observed not_covered unknown_address'])
    const { found, next, reason } = await detailOf('not_covered')
    const height = /^block (\d+) holds the transaction$/.exec(found ?? '')?.[1]
    const { name } = chain.settings
    expect(reason).toBe('the address is not in the address book')
    expect(next).toBe(
      `bin/depositd channels or wallets import FILE, with ${deposit} on ${name}; then bin/depositd backfill --network ${name} --from ${height}`,
    )
    ahead = 2 * hour
    await search()
    expect(await reported()).toEqual(['before observed not_covered unknown_address'])

    await importOwner()
    await scan()
    await backfill(BigInt(height ?? 0))
    await search()
    expect(await reported()).toEqual(['before reconciled'])
  })

  test('a payment that is really missing is so once its time was read at the address, with the blocks named', async () => {
    await list('lie', unsent(), null)
    ahead = 2 * hour
    await search()
    expect(await reported()).toEqual(['lie observed not_covered unknown_address'])
    await importOwner()
    await scan()
    await backfill(1n)
    await search()
    expect(await reported()).toContain('lie observed chain_missing')
    const { proof } = await detailOf('chain_missing')
    expect(proof).toMatch(/^final blocks \d+ to \d+ of \S+ were read for the address \(\S+Z to \S+Z\)$/)
  })

  test('of a deposit from before the history of the service, nothing is read or booked', async () => {
    await books[Symbol.asyncDispose]()
    await open({ ...policy, historySinceMs: Date.now() + hour })
    await importOwner()
    await scan()
    await list('before', paid, delivered)
    await search()
    ahead = 3 * hour
    await search()
    expect(await reported()).toEqual(['before observed not_covered'])
    expect(await detailOf('not_covered')).toMatchObject({ next: 'set an earlier historySince to read it' })
    const { rows } = await sql`
      select from named_transaction union all select from leg_search union all select from ledger_journal`.execute(
      books.db,
    )
    expect(rows).toEqual([])
  })

  test('two nodes that do not know a transaction prove that it is missing, wherever it should have paid', async () => {
    urls = [
      ...chain.settings.rpcUrls,
      ...chain.settings.rpcUrls.map((url) => url.replace('127.0.0.1', 'localhost')),
    ]
    await list('lie', unsent(), null)
    await search()
    expect(await reported(), 'it may still come').toEqual(['lie observed not_covered unknown_address'])
    ahead = 2 * hour
    await search()
    expect(await reported()).toEqual(['lie observed chain_missing unknown_address'])
    const { proof } = await detailOf('chain_missing')
    expect(proof).toMatch(/^2 nodes of \S+ do not know the transaction \(\S+, \S+\), asked at \S+Z$/)
  })
})

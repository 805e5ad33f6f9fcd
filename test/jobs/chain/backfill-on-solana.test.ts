import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createBackfill } from '../../../src/jobs/chain/backfill.ts'
import { scanNetwork } from '../../../src/jobs/chain/scan.ts'
import { saveOwner } from '../../../src/store/owners.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { newAddress } from '../../support/solana-ledger.ts'
import { honest } from '../../support/solana-node.ts'
import { openSolanaFixture, owner, pays, type SolanaFixture, solana } from '../../support/solana-watch.ts'

let books: Books
let fixture: SolanaFixture

beforeEach(async () => {
  books = await openBooks()
  fixture = await openSolanaFixture()
  fixture.node.addAccount(fixture.associated, fixture.usdc, owner)
})
afterEach(async () => {
  await fixture.node.stop()
  await books[Symbol.asyncDispose]()
})

function deps() {
  const assets = new Map([[solana, fixture.settings().assets.map(({ key }) => key)]])
  const common = {
    db: books.db,
    holder: 'me',
    leaseMs: 600_000,
    startHeights: new Map(),
    now: () => new Date(),
  }
  return { ...common, assets, observe: { mismatches: () => undefined } }
}

async function scan(): Promise<void> {
  while ((await scanNetwork(deps(), fixture.reader()))?.more) continue
}

const watch = (id: string, address: typeof owner) =>
  saveOwner(books.db, {
    owner: { kind: 'stable_wallet', id },
    deposits: [{ network: solana, address }],
    forward: null,
    createdAt: new Date('2023-01-01'),
  })

async function found(): Promise<string[]> {
  const { rows } = await sql<{ tx: string }>`
    select split_part(transfer, '/', 2) as tx from chain_transfer where stage = 'final' order by inbox_id`.execute(
    books.db,
  )
  return rows.map(({ tx }) => tx)
}

async function missing(): Promise<bigint[]> {
  const { rows } = await sql<{ from_height: bigint }>`
    select from_height from accounting.coverage_gaps order by 1`.execute(books.db)
  return rows.map(({ from_height }) => from_height)
}

test('an owner who came late is read from the first slot on, and what was paid to it is found', async () => {
  await watch('early', newAddress())
  await scan()
  const tx = fixture.node.transact(pays(fixture.associated, 5n, fixture.usdc))
  // Further back than scans look again.
  fixture.node.slot += 1000n
  await scan()
  await watch('late', owner)
  await scan()
  expect(await found()).toEqual([])
  expect(await missing()).toEqual([1n])
  while ((await createBackfill(deps())(fixture.reader()))?.more) continue
  expect(await found()).toEqual([tx])
  expect(await missing()).toEqual([])
})

test('a slot that nobody can read yet is a gap, which closes once it can be read', async () => {
  await watch('early', owner)
  await scan()
  const refused = { error: { code: -32015, message: 'Transaction version (2) is not supported' } }
  const odd = fixture.node.transact(pays(fixture.associated, 5n, fixture.usdc))
  fixture.node.lie(({ method }) => (method === 'getTransaction' ? refused : undefined))
  await scan()
  expect(await found()).toEqual([])
  expect(await missing()).toHaveLength(1)
  await createBackfill(deps())(fixture.reader())
  expect(await missing()).toHaveLength(1)
  fixture.node.lie(honest)
  await createBackfill(deps())(fixture.reader())
  expect(await found()).toEqual([odd])
  expect(await missing()).toEqual([])
})

import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { assetKey } from '../../src/core/asset.ts'
import { type Proved, proveBalances } from '../../src/jobs/prove-balances.ts'
import { scanNetwork } from '../../src/jobs/scan.ts'
import { pinAssets } from '../../src/store/assets.ts'
import { saveOwner } from '../../src/store/owners.ts'
import { type Books, openBooks } from '../support/books.ts'
import { at } from '../support/evidence.ts'
import { newAddress } from '../support/solana-ledger.ts'
import { honest } from '../support/solana-node.ts'
import { openSolanaFixture, owner, payer, pays, type SolanaFixture, solana } from '../support/solana-watch.ts'

let books: Books
let fixture: SolanaFixture
let minutes = 0
/** What the owner's accounts hold by now. */
let tokens: bigint
let lamports: bigint

beforeEach(async () => {
  books = await openBooks()
  fixture = await openSolanaFixture()
  await pinAssets(books.db, fixture.settings().assets)
  await saveOwner(books.db, {
    owner: { kind: 'stable_wallet', id: 'lab' },
    deposits: [{ network: solana, address: owner }],
    forward: null,
  })
  fixture.node.addAccount(fixture.associated, fixture.usdc, owner)
  tokens = 0n
  lamports = 0n
})
afterEach(async () => {
  await fixture.node.stop()
  await books[Symbol.asyncDispose]()
})

const deps = () => ({ db: books.db, holder: 'me', leaseMs: 600_000, now: () => at(minutes++) })

async function scan(): Promise<void> {
  const { assets } = fixture.settings()
  const known = new Map([[solana, assets.map(({ key }) => key)]])
  const reader = fixture.reader()
  while ((await scanNetwork({ ...deps(), startHeights: new Map(), assets: known }, reader))?.more) continue
}

function prove(): Promise<Proved | string> {
  return proveBalances(deps(), { reader: fixture.reader(), settings: fixture.settings() })
}

function payTokens(amount: bigint): string {
  const effects = pays(fixture.associated, amount, fixture.usdc).map((effect) =>
    effect.account === fixture.associated
      ? { ...effect, token: { mint: fixture.usdc, owner, before: tokens, after: tokens + amount } }
      : effect,
  )
  tokens += amount
  return fixture.node.transact(effects)
}

function moveLamports(amount: bigint, fee = 0n): string {
  const before = lamports
  lamports += amount - fee
  const payers = [newAddress(), owner]
  const own = { account: owner, lamports: [before, lamports] as const }
  const other = { account: payers[0] ?? payer, lamports: [10n ** 12n, 10n ** 12n - amount] as const }
  return fixture.node.transact(fee > 0n ? [own, other] : [other, own], { fee })
}

async function unexplained(): Promise<unknown[]> {
  const { rows } = await sql`
    select asset, value, detail from mismatch
    where kind = 'unexplained_balance' and cleared_at is null order by asset`.execute(books.db)
  return rows
}

test('what came in, what was sent and the fees are explained', async () => {
  await scan()
  await prove()
  payTokens(5n)
  moveLamports(1_000_000n)
  payTokens(-2n)
  moveLamports(-300_000n, 5000n)
  await scan()
  expect(await prove()).toMatchObject({ problems: [], changes: [] })
  expect(await unexplained()).toEqual([])
  const { rows } = await sql`select balance from balance_point order by balance`.execute(books.db)
  expect(rows).toEqual([{ balance: '3' }, { balance: '695000' }])
})

test('a payment that the node had left out is found by the balance, and booked', async () => {
  await scan()
  await prove()
  payTokens(5n)
  const hidden = payTokens(9n)
  fixture.node.lie(({ method, params }) => {
    if (method !== 'getSignaturesForAddress' || params[0] !== fixture.associated) return undefined
    return { result: [] }
  })
  await scan()
  fixture.node.lie(honest)
  expect(await prove()).toMatchObject({ stored: 2, changes: [] })
  expect(await unexplained()).toEqual([])
  const { rows } = await sql`select 1 from sighting where transfer like ${`%${hidden}%`}`.execute(books.db)
  expect(rows).toHaveLength(1)
})

test('balances are of what is final when they are read, and wait until scans have come as far', async () => {
  await scan()
  payTokens(5n)
  expect(await prove()).toMatchObject({ read: 2, changes: [] })
  const waiting = sql`select 1 from balance_point where reading is not null`
  expect((await waiting.execute(books.db)).rows).toHaveLength(2)
  await scan()
  expect(await prove()).toMatchObject({ read: 0, changes: [] })
  expect((await waiting.execute(books.db)).rows).toHaveLength(0)
})

test('what nothing explains is told with the stretch, and why no slot is', async () => {
  await scan()
  await prove()
  payTokens(5n)
  await scan()
  await prove()
  // The account holds more than any transaction has brought.
  tokens += 4n
  payTokens(1n)
  payTokens(1n)
  await scan()
  expect(await prove()).toMatchObject({ stored: 0, changes: [{ change: 'opened' }] })
  expect(await unexplained()).toEqual([
    {
      asset: assetKey(solana, fixture.usdc),
      value: '4',
      detail: {
        address: owner,
        change: '4',
        blocks: '1002-1003',
        problem: 'no node of Solana keeps past balances',
      },
    },
  ])
})

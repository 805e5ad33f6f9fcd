import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { depositCanary } from '../../src/core/canary.ts'
import type { ServiceId } from '../../src/core/evidence.ts'
import { isCustomer, keepCanaryOwner, switchCanaries } from '../../src/store/canary.ts'
import { openDatabase } from '../../src/store/database.ts'
import { readScorecard } from '../../src/store/scorecard.ts'
import type { Tables } from '../../src/store/tables.ts'
import { readText } from '../docs/pages.ts'
import { type Books, openBooks } from '../support/books.ts'
import { base, claim, credit, payment, txId, walletAddress } from '../support/evidence.ts'

let books: Books
beforeEach(async () => {
  books = await openBooks()
})
afterEach(() => books[Symbol.asyncDispose]())

const name = depositCanary(base)
const canary = { name, owner: { kind: 'channel', id: 'shop' } } as const

/** A deposit of the owner, from long ago. */
async function payShop(): Promise<void> {
  const deposit = { tx: txId('pay') }
  await books.receive(claim({ serviceId: 'dep_pay' as ServiceId, deposit }), payment(deposit))
  await books.settle()
}

const keptOwners = () =>
  sql<{ id: string }>`select id from canary_owner`
    .execute(books.db)
    .then(({ rows }) => rows.map(({ id }) => id))

test('an owner with deposits of others is no canary, and none that the address book does not know', async () => {
  await payShop()
  expect(await isCustomer(books.db, canary)).toBe(true)
  await switchCanaries(books.db, [canary])
  expect(await isCustomer(books.db, canary)).toBe(true)
  await keepCanaryOwner(books.db, canary)
  const unknown = { name, owner: { kind: 'channel', id: 'shpo' } } as const
  await switchCanaries(books.db, [unknown])
  expect(await isCustomer(books.db, unknown)).toBe(false)
  await keepCanaryOwner(books.db, unknown)
  expect(await keptOwners()).toEqual([])
})

test('an owner stays a canary with its own deposits, until the owner of the database removes it', async () => {
  await switchCanaries(books.db, [canary])
  await keepCanaryOwner(books.db, canary)
  await payShop()
  await switchCanaries(books.db, [])
  await switchCanaries(books.db, [canary])
  expect(await isCustomer(books.db, canary)).toBe(false)
  expect(await keptOwners()).toEqual(['shop'])
  const [undo = ''] = /delete from canary_owner .*;/.exec(readText('docs/canary.md')) ?? []
  const owner = openDatabase<Tables>({ url: books.url, poolMax: 1, applicationName: 'test owner' })
  await sql.raw(undo).execute(owner)
  await owner.destroy()
  expect(await isCustomer(books.db, canary)).toBe(true)
  const { rows } = await sql`select is_canary from accounting.deposits`.execute(books.db)
  expect(rows).toEqual([{ is_canary: false }])
})

test('accountants see deposits of the owner named apart, and the scorecard leaves them out', async () => {
  await switchCanaries(books.db, [canary])
  await keepCanaryOwner(books.db, canary)
  await keepCanaryOwner(books.db, canary)
  await payShop()
  await books.receive(
    claim({
      serviceId: 'dep_wallet' as ServiceId,
      owner: { kind: 'stable_wallet', id: 'savings' },
      deposit: { address: walletAddress, tx: txId('pay2') },
      settlement: { network: 'stable-wallet' as never, address: 'savings' as never, asset: credit, tx: null },
    }),
    payment({ to: walletAddress, tx: txId('pay2') }),
  )
  await books.settle()
  for (const view of ['deposits', 'daily_totals']) {
    const { rows } = await sql`
      select owner_id, is_canary from accounting.${sql.ref(view)} order by owner_id`.execute(books.db)
    expect(rows, view).toEqual([
      { owner_id: 'savings', is_canary: false },
      { owner_id: 'shop', is_canary: true },
    ])
  }
  const [all] = await readScorecard(books.db, { from: new Date('2025-01-01'), to: new Date('2027-01-01') })
  expect(all).toMatchObject({ scope: 'service', deposits: 1n })
})

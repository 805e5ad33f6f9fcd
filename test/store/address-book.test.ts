import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { byProgram, type OwnerEntry } from '../../src/core/address-book.ts'
import type { Address } from '../../src/core/asset.ts'
import { readWatchList } from '../../src/store/chain/chain-watch.ts'
import { inTransaction } from '../../src/store/database.ts'
import { keepOwners, listOwners, readOwners, saveOwner } from '../../src/store/owners.ts'
import { type Books, openBooks } from '../support/books.ts'
import { arbitrum, base, claim, payment } from '../support/evidence.ts'
import { untilWaiting } from '../support/waiting.ts'

let books: Books

beforeAll(async () => {
  books = await openBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const address = (last: string) => `0x${last.padStart(40, '0')}` as Address

function channel(id: string, last: string, changes: Partial<OwnerEntry> = {}): OwnerEntry {
  return {
    owner: { kind: 'channel', id },
    deposits: [
      { network: base, address: address(last) },
      { network: arbitrum, address: address(last) },
    ],
    forward: { network: arbitrum, asset: 'USDC', recipient: address('beef') },
    ...changes,
  }
}

const wallet = (id: string, last: string) =>
  channel(id, last, { owner: { kind: 'stable_wallet', id }, forward: null })

const refusal = { code: 'usage_bad' }

test('an owner is kept with its addresses and its recipient, all of which are watched', async () => {
  await saveOwner(books.db, channel('one', 'a1'))
  const watched = (await readWatchList(books.db, arbitrum)).map((one) => `${one.role} ${one.address}`)
  expect(watched).toEqual(
    expect.arrayContaining([`deposit ${address('a1')}`, `recipient ${address('beef')}`]),
  )
  const line = {
    service: 'default',
    id: 'one',
    address: address('a1'),
    forward_network: 'arbitrum',
    forward_asset: 'USDC',
    forward_recipient: address('beef'),
  }
  const owners = await listOwners(books.db, { kind: 'channel', limit: 100 })
  expect(owners.filter(({ id }) => id === 'one')).toMatchObject([
    { ...line, network: 'arbitrum' },
    { ...line, network: 'base' },
  ])
})

test('saying the same again, twenty times at once, changes nothing', async () => {
  const again = Array.from({ length: 20 }, () => saveOwner(books.db, channel('many', 'a2')))
  await Promise.all(again)
  const { rows } = await sql`select 1 from address_book where owner_id = 'many'`.execute(books.db)
  expect(rows).toHaveLength(2)
})

test('one recipient may serve many owners', async () => {
  await saveOwner(books.db, channel('left', 'a3'))
  await saveOwner(books.db, channel('right', 'a4'))
})

test.each<[string, OwnerEntry]>([
  [
    'another recipient',
    channel('fixed', 'b1', { forward: { network: arbitrum, asset: 'USDC', recipient: address('bad') } }),
  ],
  [
    'another network',
    channel('fixed', 'b1', { forward: { network: base, asset: 'USDC', recipient: address('beef') } }),
  ],
  [
    'another asset',
    channel('fixed', 'b1', { forward: { network: arbitrum, asset: 'USDT', recipient: address('beef') } }),
  ],
  ['other addresses', channel('fixed', 'b2')],
  ["another owner's addresses", channel('thief', 'b1')],
])('an owner that is known is not kept again with %s', async (_what, entry) => {
  await saveOwner(books.db, channel('fixed', 'b1'))
  const before = await everything()
  await expect(saveOwner(books.db, entry)).rejects.toMatchObject(refusal)
  expect(await everything()).toEqual(before)
})

async function everything(): Promise<object[]> {
  const { rows } = await sql<object>`
    select o.*, b.* from owner o full join address_book b on b.owner_id = o.id order by 1, 2, network, address, role`.execute(
    books.db,
  )
  return rows
}

test('an owner may gain a network, and be said without one', async () => {
  const [onBase, onArbitrum] = channel('grows', 'e1').deposits
  if (!onBase || !onArbitrum) throw new Error('a channel has two addresses')
  await saveOwner(books.db, channel('grows', 'e1', { deposits: [onBase] }))
  await saveOwner(books.db, channel('grows', 'e1'))
  await saveOwner(books.db, channel('grows', 'e1', { deposits: [onArbitrum] }))
  const { rows } = await sql`select 1 from address_book where owner_id = 'grows'`.execute(books.db)
  expect(rows).toHaveLength(2)
})

test('of twenty owners who claim one address at once, one gets it', async () => {
  const race = Array.from({ length: 20 }, (_, place) => saveOwner(books.db, wallet(`racer ${place}`, 'c1')))
  const results = await Promise.allSettled(race)
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const { rows } = await sql`select 1 from owner where id like 'racer %'`.execute(books.db)
  expect(rows).toHaveLength(1)
})

test('of two who give one wallet different addresses at the same time, the later is refused', async () => {
  const [first, second] = [wallet('savings of two', '11'), wallet('savings of two', '22')]
  await saveOwner(books.db, { ...first, deposits: [] })
  const saving = await inTransaction(books.db, async (tx) => {
    await keepOwners(tx, [first], byProgram)
    const later = saveOwner(books.db, second).catch((error: unknown) => error)
    await untilWaiting(books.db)
    return { later }
  })
  expect(await saving.later).toMatchObject(refusal)
  const [kept] = await readOwners(books.db, 'stable_wallet', ['savings of two'])
  expect(kept?.deposits.map((deposit) => deposit.address)).toEqual([address('11'), address('11')])
})

test('a channel and a wallet may have one id; a wallet has no recipient', async () => {
  await saveOwner(books.db, channel('same', 'd1'))
  await saveOwner(books.db, wallet('same', 'd2'))
  const [line] = await listOwners(books.db, { kind: 'stable_wallet', limit: 1 })
  expect(line?.forward_recipient).toBeNull()
})

test.each([
  "insert into owner (kind, id, added_by) values ('channel', 'no recipient', 'ana')",
  "insert into owner (kind, id, forward_network, forward_recipient, added_by) values ('stable_wallet', 'w', 'base', '0x1', 'ana')",
  "insert into owner (kind, id, added_by) values ('bank', 'b', 'ana')",
  "insert into owner (kind, id, added_by) values ('stable_wallet', '', 'ana')",
  "insert into owner (kind, id, added_by) values ('stable_wallet', 'w', '')",
  "insert into owner (kind, id, added_by, approved_by) values ('stable_wallet', 'w', 'ana', 'Ana')",
  "insert into address_book (network, address, role, added_by) values ('base', '0x1', 'deposit', 'ana')",
  "insert into address_book (network, address, role, added_by, approved_by) values ('base', '0x1', 'recipient', 'ana', 'Ana')",
  "insert into address_book (network, address, role, owner_kind, owner_id, added_by) values ('base', '0x1', 'deposit', 'channel', 'nobody', 'ana')",
  "insert into address_end (address_id, reason, ended_by) values (0, 'moved', 'ana')",
  "insert into address_end (address_id, reason, ended_by, approved_by) values (1, 'moved', 'ana', 'ANA')",
])('Postgres refuses what makes no sense: %s', async (statement) => {
  await expect(sql.raw(statement).execute(books.owner)).rejects.toThrow(/violates (check|foreign key)/)
})

test("the daemon's login adds no entry of a person, nor an end", async () => {
  const entry = { owner: { kind: 'stable_wallet', id: 'forged' }, deposits: [], forward: null } as const
  const forged = inTransaction(books.db, (tx) =>
    keepOwners(tx, [entry], { by: 'erin', approvedBy: 'max', decision: 1n }),
  )
  await expect(forged).rejects.toThrow('owner: an entry of a person needs a signed decision')
  const end = sql`insert into address_end (address_id, reason, ended_by) values (1, 'moved', 'depositd')`
  await expect(end.execute(books.db)).rejects.toThrow('permission denied for table address_end')
})

test('a deposit to an address that becomes known is decided again', async () => {
  await using own = await openBooks()
  const late = address('d7')
  await own.receive(claim({ owner: { kind: 'stable_wallet', id: 'late' }, deposit: { address: late } }))
  await own.settle()
  expect(await openKinds(own)).toContain('unknown_address')
  await saveOwner(own.db, {
    owner: { kind: 'stable_wallet', id: 'late' },
    deposits: [{ network: base, address: late }],
    forward: null,
  })
  // Its moment is the database's clock; the daemon's clock of this test is older.
  await sql`update evidence_group set recheck_at = '2026-01-01' where recheck_at is not null`.execute(own.db)
  await own.settle()
  expect(await openKinds(own)).not.toContain('unknown_address')
})

async function openKinds({ db }: Books): Promise<string[]> {
  const open = await db.selectFrom('mismatch').select('kind').where('cleared_at', 'is', null).execute()
  return open.map(({ kind }) => kind)
}

test('what was reported for an owner before it was known is decided as if it had been known', async () => {
  await using own = await openBooks()
  const { owner: kettle, ...entry } = channel('kettle', 'd8')
  await own.receive(claim({ owner: kettle, deposit: { address: address('d9') } }))
  await own.settle()
  await saveOwner(own.db, { owner: kettle, ...entry })
  await sql`update evidence_group set recheck_at = '2026-01-01' where recheck_at is not null`.execute(own.db)
  await own.settle()
  expect(await openKinds(own)).toContain('address_changed')
})

test('a payment to us for somebody unknown is decided again once the book has them, on whatever network', async () => {
  await using own = await openBooks()
  const late = { kind: 'stable_wallet', id: 'late' } as const
  await own.receive(claim({ owner: late }), payment())
  await own.settle()
  expect(await openKinds(own)).toContain('unknown_owner')
  const deposits = [{ network: arbitrum, address: address('da') }]
  await saveOwner(own.db, { owner: late, deposits, forward: null })
  // Only what the book asks for is decided again, at a moment that this test's clock has.
  await sql`update evidence_group set recheck_at = case when recheck_at > '2026-02-01' then timestamptz '2026-01-01' end`.execute(
    own.db,
  )
  await own.settle()
  expect(await openKinds(own)).not.toContain('unknown_owner')
})

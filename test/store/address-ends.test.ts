import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { verifyBooks } from '../../src/jobs/books/verify-books.ts'
import { type AddressEnd, type EndedAddress, endAddresses, settleEnds } from '../../src/store/address-ends.ts'
import { readWatchList } from '../../src/store/chain/chain-watch.ts'
import { inTransaction } from '../../src/store/database.ts'
import { listBalances } from '../../src/store/ledger/accounts.ts'
import { keepOwners, listOwners, readOwners, saveOwner } from '../../src/store/owners.ts'
import { type Books, openBooks } from '../support/books.ts'
import {
  arbitrum,
  at,
  base,
  channelAddress,
  channelApproval,
  payment,
  recipient,
  txId,
} from '../support/evidence.ts'
import { people } from '../support/manual-journals.ts'
import { tamper } from '../support/tamper.ts'
import { untilWaiting } from '../support/waiting.ts'

let books: Books

/** Two payments that the service has not reported, at the minutes 0 and 10. */
beforeEach(async () => {
  books = await openBooks({ now: () => new Date() })
  await books.receive(payment(), payment({ tx: txId('pay2'), blockAt: at(10) }))
  await books.settle()
})
afterEach(() => books[Symbol.asyncDispose]())

const { owner } = channelApproval
const end = (until: Date | null) => endThere({ owner, network: null, until, reason: 'the key is lost' })

/** As the owner of the database, without signatures. */
async function endThere(planned: Omit<AddressEnd, 'people'>): Promise<EndedAddress[]> {
  const decided = { ...planned, people }
  const ended = await inTransaction(books.owner, (tx) => endAddresses(tx, decided))
  await settleEnds(books.owner, decided, ended)
  return ended
}

/** The times of the payments whose address was not valid, in minutes. */
async function outside(): Promise<unknown[]> {
  await books.settle()
  const { rows } = await sql<{ minute: number }>`
    select (extract(epoch from (detail ->> 'block')::timestamptz - ${at(0)}) / 60)::int as minute
    from mismatch where kind = 'unknown_address' and cleared_at is null order by 1`.execute(books.db)
  return rows.map(({ minute }) => minute)
}

test('payments from the end on are a mismatch; earlier ones are untouched; it can be corrected and withdrawn', async () => {
  expect(await outside()).toEqual([])
  expect(await end(at(10))).toEqual([{ network: base, address: channelAddress, before: null }])
  expect(await outside()).toEqual([10])
  await end(at(0))
  expect(await outside()).toEqual([0, 10])
  await end(at(11))
  expect(await outside()).toEqual([])
  await end(at(0))
  await end(null)
  expect(await outside()).toEqual([])
  await end(at(10))
  await books.receive(payment({ tx: txId('other'), blockAt: at(20), receivedAt: at(21) }))
  expect(await outside()).toEqual([10, 20])
  const verified = await verifyBooks(books.deps, { subjectsMax: 9, onProgress: () => undefined })
  expect(verified).toMatchObject({ due: 0, pending: 0, differing: 0, subjects: 3 })
})

test('the money that arrives is seen, and held in suspense', async () => {
  await end(at(10))
  const watched = await readWatchList(books.db, base)
  expect(watched.map(({ address }) => address)).toContain(channelAddress)
  await books.receive(payment({ tx: txId('other'), blockAt: at(20), receivedAt: new Date() }))
  await books.settle()
  const balances = await listBalances(books.db)
  // The earlier ones are there because the service did not report them in time.
  expect(balances.find(({ account }) => account === 'liabilities:suspense')?.balance).toBe('-300.000000')
})

test('a decision that began before the end is made again', async () => {
  const waiting = await books.db.startTransaction().execute()
  await sql`insert into stream (name) values ('policy')`.execute(books.db)
  await sql`select from stream where name = 'policy' for share`.execute(waiting)
  const ending = end(at(10))
  await untilWaiting(books.db)
  const { numAffectedRows: due } = await sql`
    update evidence_group set recheck_at = null where recheck_at is not null`.execute(books.db)
  expect(due, 'also if the command dies here').toBe(1n)
  await waiting.commit().execute()
  await ending
  expect(await outside()).toEqual([10])
})

test('the list names who added, approved and ended an entry, and for which time it is valid', async () => {
  const deposits = [{ network: base, address: recipient, validFrom: at(5) }]
  const wallet = { kind: 'stable_wallet', id: 'till' } as const
  await inTransaction(books.owner, (tx) =>
    keepOwners(tx, [{ owner: wallet, deposits, forward: null }], people),
  )
  await endThere({ owner: wallet, network: base, until: at(9), reason: 'moved' })
  const lines = await listOwners(books.db, { kind: 'stable_wallet', limit: 9 })
  const [savings, till] = lines
  expect(savings).toMatchObject({
    added_by: 'depositd',
    approved_by: null,
    valid_from: null,
    valid_until: null,
  })
  expect(till).toMatchObject({
    added_by: 'erin',
    approved_by: 'max',
    valid_from: at(5),
    valid_until: at(9),
    ended_by: 'erin',
    end_approved_by: 'max',
    end_reason: 'moved',
  })
  const { rows } = await sql`
    select address, role, added_by, valid_until, end_reason from accounting.address_book where owner_id = 'till'`.execute(
    books.db,
  )
  expect(rows).toEqual([
    { address: recipient, role: 'deposit', added_by: 'erin', valid_until: at(9), end_reason: 'moved' },
  ])
})

test('an owner has one address on a network until its validity ends', async () => {
  const forward = { network: arbitrum, asset: 'USDC', recipient }
  const moved = { owner, deposits: [{ network: base, address: recipient }], forward }
  await expect(saveOwner(books.db, moved)).rejects.toThrow(`has ${channelAddress} on base`)
  await end(at(10))
  await saveOwner(books.db, moved)
  const lines = await listOwners(books.db, { kind: 'channel', limit: 9 })
  expect(lines.map(({ address, valid_until: until }) => [address, until])).toEqual([
    [channelAddress, at(10)],
    [recipient, null],
  ])
  const [entry] = await readOwners(books.db, 'channel', ['shop'])
  expect(entry?.deposits.map(({ address }) => address)).toEqual([recipient, channelAddress])
  const [first] = lines
  expect(await listOwners(books.db, { kind: 'channel', limit: 9, after: first ?? null })).toEqual(
    lines.slice(1),
  )
})

test('an owner without a deposit address there has no end', async () => {
  const nowhere = { owner: { kind: 'channel', id: 'none' }, network: null } as const
  expect(await endThere({ ...nowhere, until: at(1), reason: 'x' })).toEqual([])
})

test.each(['address_book', 'address_end', 'owner'])('nobody changes or deletes rows of %s', async (table) => {
  await end(at(10))
  const [change, remove] = [
    sql.raw(`update ${table} set approved_by = null`),
    sql.raw(`delete from ${table}`),
  ]
  await expect(change.execute(books.db)).rejects.toThrow('permission denied')
  await expect(remove.execute(books.db)).rejects.toThrow('permission denied')
  const asOwner = tamper(books, `set session_replication_role = origin`, `delete from ${table}`)
  await expect(asOwner).rejects.toThrow('append-only')
})

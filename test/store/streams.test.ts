import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../src/store/database.ts'
import {
  claimTick,
  giveBackTick,
  type Lease,
  moveCursor,
  releaseLeases,
  takeLease,
  ticksGivenBack,
} from '../../src/store/streams.ts'
import { type Books, openBooks } from '../support/books.ts'

let books: Books

beforeAll(async () => {
  books = await openBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const long = 600_000
const take = (stream: string, holder: string, ttlMs = long) => takeLease(books.db, { stream, holder, ttlMs })
const move = (lease: Lease, cursor: unknown) =>
  inTransaction(books.db, (tx) => moveCursor(tx, lease, { cursor, progress: { pages: 1 } }))

async function taken(stream: string, holder: string, ttlMs = long): Promise<Lease> {
  const lease = await take(stream, holder, ttlMs)
  if (lease === null) throw new Error(`${holder} did not get ${stream}`)
  return lease
}

test('of twenty who want a stream at once, one gets it', async () => {
  const race = Array.from({ length: 20 }, (_, place) => take('scan/race', `holder ${place}`))
  const leases = (await Promise.all(race)).filter((one) => one !== null)
  expect(leases).toMatchObject([{ fence: 1n, cursor: null }])
})

test('of twenty who want a stream whose holder is gone, one gets it, with a higher fence', async () => {
  const old = await taken('scan/gone', 'old', 0)
  const race = Array.from({ length: 20 }, (_, place) => take('scan/gone', `holder ${place}`))
  const leases = (await Promise.all(race)).filter((one) => one !== null)
  expect(leases).toMatchObject([{ fence: old.fence + 1n }])
})

test('the holder renews its lease without a new fence, while nobody else gets it', async () => {
  const lease = await taken('scan/renewed', 'me', 0)
  expect(await take('scan/renewed', 'me')).toEqual(lease)
  expect(await take('scan/renewed', 'somebody else')).toBeNull()
})

test('whoever takes a stream over begins where the last one stood', async () => {
  const lease = await taken('scan/moved', 'me', 0)
  await move(lease, { height: '17' })
  expect(await take('scan/moved', 'somebody else')).toMatchObject({ cursor: { height: '17' } })
})

test('whoever lost its stream cannot move the cursor, and what it read is not written', async () => {
  const lost = await taken('scan/lost', 'me', 0)
  const lease = await taken('scan/lost', 'somebody else')
  await move(lease, { height: '5' })
  const attempt = inTransaction(books.db, async (tx) => {
    await tx
      .insertInto('evidence_group')
      .values({ recheck_at: new Date(1) })
      .execute()
    await moveCursor(tx, lost, { cursor: { height: '9' }, progress: {} })
  })
  await expect(attempt).rejects.toMatchObject({ code: 'lease_lost', details: { stream: 'scan/lost' } })
  const groups = await books.db
    .selectFrom('evidence_group')
    .where('recheck_at', '=', new Date(1))
    .select('id')
    .execute()
  expect(groups).toEqual([])
  expect((await take('scan/lost', 'somebody else'))?.cursor).toEqual({ height: '5' })
})

test('a process that lost its stream and got it back cannot go on with its old lease', async () => {
  const old = await taken('scan/back', 'me', 0)
  await taken('scan/back', 'somebody else', 0)
  const lease = await taken('scan/back', 'me')
  await expect(move(old, { height: '1' })).rejects.toMatchObject({ code: 'lease_lost' })
  await move(lease, { height: '2' })
})

test('leases that are given back are free at once, and only those', async () => {
  const mine = await taken('scan/mine', 'leaving')
  await taken('scan/yours', 'staying')
  await releaseLeases(books.db, 'leaving')
  await expect(move(mine, null)).rejects.toMatchObject({ code: 'lease_lost' })
  expect(await take('scan/mine', 'new')).toMatchObject({ fence: mine.fence + 1n })
  expect(await take('scan/yours', 'new')).toBeNull()
})

const claim = (tick: string, quietMs: number) => claimTick(books.db, { tick, quietMs })

test('of twenty schedulers that have a tick at once, one gets it, and the next tick is for anybody again', async () => {
  for (let tick = 0; tick < 2; tick++) {
    const race = await Promise.all(Array.from({ length: 20 }, () => claim('raced', long)))
    expect(race.filter((one) => one !== null)).toEqual([BigInt(tick + 1)])
    await sql`update stream set expires_at = now() - interval '1 s' where name = 'tick/raced'`.execute(
      books.db,
    )
  }
})

test('what was claimed or taken before the clock of the database was set back keeps nobody waiting', async () => {
  expect(await claim('ahead', long)).toBe(1n)
  expect(await claim('ahead', long)).toBeNull()
  expect(await claim('ahead', 500)).toBe(2n)
  const old = await taken('scan/ahead', 'gone', long)
  expect(await take('scan/ahead', 'new', 15_000)).toMatchObject({ fence: old.fence + 1n })
})

test('whoever asked a moment before another has a tick does not get it, too', async () => {
  expect(await claim('close', 500)).toBe(1n)
  await sql`update stream set expires_at = expires_at + interval '1 second' where name = 'tick/close'`.execute(
    books.db,
  )
  expect(await claim('close', 500)).toBeNull()
})

const giveBack = (tick: string, number: bigint) => giveBackTick(books.db, { tick, claim: number })

test('a tick is given back by whoever has it, and once nobody has it by anybody', async () => {
  const first = (await claim('back', long)) ?? 0n
  await giveBack('back', first)
  expect(await ticksGivenBack(books.db)).toEqual(['back'])
  expect(await claim('back', long)).toBe(first + 1n)
  await giveBack('back', first)
  await giveBack('back', 0n)
  expect(await ticksGivenBack(books.db)).toEqual([])
  await sql`update stream set expires_at = now() - interval '1 s' where name = 'tick/back'`.execute(books.db)
  await giveBack('back', 0n)
  await giveBack('never claimed', 0n)
  expect((await ticksGivenBack(books.db)).toSorted()).toEqual(['back', 'never claimed'])
})

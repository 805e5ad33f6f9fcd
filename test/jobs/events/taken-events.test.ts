import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  editEndpoint,
  pauseEndpoint,
  replayEndpoint,
  resumeEndpoint,
} from '../../../src/store/change-endpoints.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { takeEvents } from '../../../src/store/event-deliveries.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { openEventReceiver } from '../../support/event-receiver.ts'
import { addEndpoint, endpointNamed, type SentEvents, sendEvents } from '../../support/sent-events.ts'
import { until } from '../../support/until.ts'

let stack: AsyncDisposableStack
let books: Books
let sending: SentEvents

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  books = stack.use(await openBooks())
  sending = stack.use(sendEvents(books))
})
afterEach(async () => {
  expect(sending.failed).toEqual([])
  await stack.disposeAsync()
})

const by = 'erin'

test('no attempt begins that might end after the lease', async () => {
  const { url, received } = stack.use(await openEventReceiver())
  await addEndpoint(books, { url })
  await sending.happen(1, 2)
  await using late = sendEvents(books, { leaseMs: 15_000, attemptMs: 15_000 })
  await late.deliver()
  expect(received).toEqual([])
  await sending.deliver()
  expect(received.map(({ sequence }) => sequence).toSorted((one, other) => one - other)).toEqual([1, 2])
})

test('after a pause, what was taken to be sent later is not sent', async () => {
  const hold = Promise.withResolvers<void>()
  let arrived = 0
  const { url, received } = stack.use(
    await openEventReceiver(async () => {
      arrived++
      await hold.promise
      return 200
    }),
  )
  await addEndpoint(books, { url })
  await sending.happen(...Array.from({ length: 40 }, (_none, place) => place + 1))
  sending.sender.wake()
  await until('as many attempts as may be under way', () => (arrived === 16 ? true : null))
  await inTransaction(books.db, (tx) => pauseEndpoint(tx, { name: 'shop', by }))
  await untilTurn()
  hold.resolve()
  await sending.deliver()
  expect(received).toHaveLength(16)
  await inTransaction(books.db, (tx) => resumeEndpoint(tx, { name: 'shop', by }))
  await sending.deliver()
  expect(received.map(({ sequence }) => sequence).toSorted((one, other) => one - other)).toEqual(
    Array.from({ length: 40 }, (_none, place) => place + 1),
  )
})

test('after a new address, what was taken for the old one goes to the new one', async () => {
  const hold = Promise.withResolvers<void>()
  let arrived = 0
  const old = stack.use(
    await openEventReceiver(async () => {
      arrived++
      await hold.promise
      return 200
    }),
  )
  const other = stack.use(await openEventReceiver())
  await addEndpoint(books, { url: old.url })
  await sending.happen(1, 1, 1, ...Array.from({ length: 37 }, (_none, place) => place + 2))
  sending.sender.wake()
  await until('as many attempts as may be under way', () => (arrived === 16 ? true : null))
  await inTransaction(books.db, (tx) => editEndpoint(tx, { name: 'shop', by, url: other.url }))
  await untilTurn()
  hold.resolve()
  await sending.deliver()
  expect(old.received).toHaveLength(16)
  expect(other.received).toHaveLength(24)
})

test('a failure of an attempt from before a resume is not one since then', async () => {
  const hold = Promise.withResolvers<void>()
  let arrived = 0
  const { url, received } = stack.use(
    await openEventReceiver(async () => {
      if (++arrived > 1) return 200
      await hold.promise
      return 410
    }),
  )
  await addEndpoint(books, { url })
  await sending.happen(1)
  sending.sender.wake()
  await until('the first attempt', () => (arrived === 1 ? true : null))
  await inTransaction(books.db, (tx) => resumeEndpoint(tx, { name: 'shop', by }))
  hold.resolve()
  await sending.deliver()
  expect(received).toHaveLength(2)
  expect((await endpointNamed(books)).state).toBe('active')
})

test('a replay from a number that a paused endpoint has not reached leaves nothing out', async () => {
  const { url, received } = stack.use(await openEventReceiver())
  await addEndpoint(books, { url })
  await inTransaction(books.db, (tx) => pauseEndpoint(tx, { name: 'shop', by }))
  await sending.happen(1, 2, 3, 4)
  await inTransaction(books.db, (tx) => replayEndpoint(tx, { name: 'shop', by, from: { sequence: 3n } }))
  await inTransaction(books.db, (tx) => resumeEndpoint(tx, { name: 'shop', by }))
  await sending.deliver()
  expect(received.map(({ sequence }) => sequence).toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4])
})

test('to take events reads no earlier ones', async () => {
  await sql`
    insert into event (sequence, id, type, data, at)
    select number, uuidv7(), 'seal.published', '{}', now() from generate_series(1, 5000) as number`.execute(
    books.owner,
  )
  const { url } = stack.use(await openEventReceiver())
  await addEndpoint(books, { url })
  await sending.happen(1, 2)
  const { id } = await endpointNamed(books)
  const read = await inTransaction(books.db, async (tx) => {
    await takeEvents(tx, id)
    const { rows } = await sql<{ read: number }>`
      select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relname = 'event'`.execute(
      tx,
    )
    return rows[0]?.read
  })
  expect(read).toBeGreaterThan(0)
  expect(read).toBeLessThan(50)
})

/** Until the sender has looked at the endpoint after this call. */
async function untilTurn(): Promise<void> {
  for (let turn = 1; turn <= 2; turn++) {
    const before = await leasedUntil()
    await until('a turn', async () => ((await leasedUntil()) === before ? null : true))
  }
}

/** Each turn extends the lease. */
async function leasedUntil(): Promise<number | undefined> {
  const lease = books.db.selectFrom('stream').select('expires_at').where('name', 'like', 'events/%')
  return (await lease.executeTakeFirstOrThrow()).expires_at?.getTime()
}

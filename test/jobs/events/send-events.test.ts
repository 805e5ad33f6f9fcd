import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  pauseEndpoint,
  removeEndpoint,
  replayEndpoint,
  resumeEndpoint,
} from '../../../src/store/change-endpoints.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { listAttempts, pruneAttempts, readEventGauges } from '../../../src/store/event-deliveries.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { openEventReceiver, type ReceivedEvent } from '../../support/event-receiver.ts'
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

async function receiver(answer?: Parameters<typeof openEventReceiver>[0]) {
  return stack.use(await openEventReceiver(answer))
}

const sequences = (received: readonly ReceivedEvent[]) => received.map(({ sequence }) => sequence)

const ordered = (received: readonly ReceivedEvent[]) =>
  sequences(received).toSorted((one, other) => one - other)

const idOf = (all: readonly ReceivedEvent[]) => new Map(all.map(({ sequence, id }) => [sequence, id]))

/** @throws if an event of a deposit came after a later one */
function holdOrder(received: readonly ReceivedEvent[]): void {
  for (const [, some] of Map.groupBy(received, ({ deposit }) => deposit))
    expect(sequences(some)).toEqual(sequences(some).toSorted((one, other) => one - other))
}

const attempts = async () => listAttempts(books.db, (await endpointNamed(books)).id, { limit: 100 })

test('each event arrives once, those of a deposit in order, and those of others at the same time', async () => {
  let atOnce = 0
  let most = 0
  const { url, received } = await receiver(async () => {
    most = Math.max(most, ++atOnce)
    await new Promise((resolve) => setTimeout(resolve, 5 * Math.random()))
    atOnce--
    return 200
  })
  await sending.happen(9)
  await addEndpoint(books, { url })
  await sending.happen(...Array.from({ length: 1200 }, (_none, place) => (place % 300) + 1), null, null)
  await sending.deliver()
  expect(ordered(received)).toEqual(Array.from({ length: 1202 }, (_none, place) => place + 2))
  holdOrder(received)
  expect(most).toBeGreaterThan(5)
  expect(most).toBeLessThanOrEqual(16)
  expect(await endpointNamed(books)).toMatchObject({ delivered: 1203n, waiting: 0 })
})

test('an event of a deposit waits for the one before it, and events of others do not', async () => {
  let isDown = true
  const { url, received } = await receiver(({ sequence }) => (isDown && sequence === 1 ? 500 : 200))
  await addEndpoint(books, { url })
  await sending.happen(1, 1, 2, 2, null)
  await sending.deliver()
  sending.clock.pass(1.1)
  await sending.deliver()
  expect(ordered(received.filter(({ sequence }) => sequence > 1))).toEqual([3, 4, 5])
  expect(await endpointNamed(books)).toMatchObject({ delivered: 0n, waiting: 2 })
  isDown = false
  sending.clock.pass(3600)
  await sending.deliver()
  expect(sequences(received).slice(-2)).toEqual([1, 2])
  expect(await endpointNamed(books)).toMatchObject({ delivered: 5n, waiting: 0, failing_since: null })
})

test('a retry has the same id and the same bytes', async () => {
  let failures = 3
  const { url, received } = await receiver(() => (failures-- > 0 ? 503 : 200))
  await addEndpoint(books, { url })
  await sending.happen(1)
  for (let tries = 0; tries < 4; tries++) {
    await sending.deliver()
    sending.clock.pass(60)
  }
  expect(received).toHaveLength(4)
  expect(new Set(received.map(({ headers, body }) => `${headers['webhook-id']} ${body}`)).size).toBe(1)
  expect((await attempts()).map(({ status }) => status)).toEqual([200, 503, 503, 503])
})

test('an endpoint that fails is tried with one event at a time, and less often; after three days it pauses', async () => {
  let isDown = true
  const { url, received } = await receiver(() => (isDown ? 500 : 200))
  await addEndpoint(books, { url })
  await sending.happen(...Array.from({ length: 40 }, (_none, place) => place + 1))
  await sending.deliver()
  const first = received.length
  expect(first).toBeLessThanOrEqual(16)
  const [hour, day] = [3600, 86_400]
  const passAndDeliver = async (total: number, step: number) => {
    for (let seconds = 0; seconds < total; seconds += step) {
      sending.clock.pass(step)
      await sending.deliver()
    }
  }
  await passAndDeliver(6 * hour, 60)
  expect(received.length).toBeLessThan(100)
  expect(received.length).toBeGreaterThan(70)
  await passAndDeliver(3 * day - 6 * hour - 600, 1500)
  expect(sending.stopped).toEqual([])
  sending.clock.pass(900)
  await sending.deliver()
  expect(sending.stopped).toEqual(['shop: undelivered'])
  expect(await endpointNamed(books)).toMatchObject({ state: 'paused', reason: 'undelivered', delivered: 0n })
  expect(await readEventGauges(books.db)).toMatchObject({ active: 0, paused: 0, stopped: 1, oldest: 0 })
  received.length = 0
  sending.clock.pass(day)
  await sending.deliver()
  expect(received).toEqual([])

  isDown = false
  await inTransaction(books.db, (tx) => resumeEndpoint(tx, { name: 'shop', by }))
  await sending.deliver()
  expect(ordered(received)).toEqual(Array.from({ length: 40 }, (_none, place) => place + 1))
})

test('one event that always fails pauses the endpoint too, after the others were delivered', async () => {
  const { url, received } = await receiver(({ sequence }) => (sequence === 1 ? 400 : 200))
  await addEndpoint(books, { url })
  await sending.happen(1, 1, 2, 3)
  for (let hours = 0; hours < 74; hours++) {
    await sending.deliver()
    sending.clock.pass(3600)
    if (hours === 10) await sending.happen(2)
  }
  expect(sequences(received).filter((one) => one > 1)).toEqual([3, 4, 5])
  expect(sending.stopped).toEqual(['shop: undelivered'])
  expect(received.length).toBeLessThan(100)
})

test('after an outage, everything is delivered without waiting for its retry', async () => {
  let isDown = true
  const { url, received } = await receiver(() => (isDown ? 500 : 200))
  await addEndpoint(books, { url })
  await sending.happen(1, 2, 3)
  for (let minutes = 0; minutes < 600; minutes += 5) {
    await sending.deliver()
    sending.clock.pass(300)
  }
  isDown = false
  received.splice(0)
  for (let minutes = 0; minutes < 65 && received.length < 3; minutes++) {
    sending.clock.pass(60)
    await sending.deliver()
    if (received.length > 0) break
  }
  expect(ordered(received)).toEqual([1, 2, 3])
})

test('an endpoint that answers 410 takes no more', async () => {
  const { url, received } = await receiver(() => 410)
  await addEndpoint(books, { url })
  await sending.happen(1, 2)
  await sending.deliver()
  expect(await endpointNamed(books)).toMatchObject({ state: 'paused', reason: 'gone' })
  received.splice(0)
  sending.clock.pass(86_400)
  await sending.deliver()
  expect(received).toEqual([])
})

test('a paused endpoint gets nothing, and everything when it is resumed; a removed one never', async () => {
  const { url, received } = await receiver()
  await addEndpoint(books, { url })
  await inTransaction(books.db, (tx) => pauseEndpoint(tx, { name: 'shop', by }))
  await sending.happen(1, 1)
  await sending.deliver()
  expect(received).toEqual([])
  expect(await readEventGauges(books.db)).toMatchObject({ active: 0, paused: 1 })
  await inTransaction(books.db, (tx) => resumeEndpoint(tx, { name: 'shop', by }))
  expect((await readEventGauges(books.db)).oldest).toBeGreaterThan(0)
  await sending.deliver()
  expect(sequences(received)).toEqual([1, 2])
  await inTransaction(books.db, (tx) => removeEndpoint(tx, { name: 'shop', by }))
  await sending.happen(1)
  await sending.deliver()
  expect(received).toHaveLength(2)
  const secrets = await sql`select from event_endpoint_secret`.execute(books.db)
  expect(secrets.rows).toEqual([])
})

describe('a replay', () => {
  test('from a number sends it and all later ones again, with the same ids', async () => {
    const { url, received } = await receiver()
    await addEndpoint(books, { url })
    await sending.happen(1, 1, 2, 1)
    await sending.deliver()
    const before = received.splice(0)
    await inTransaction(books.db, (tx) => replayEndpoint(tx, { name: 'shop', by, from: { sequence: 2n } }))
    await sending.deliver()
    expect(ordered(received)).toEqual([2, 3, 4])
    holdOrder(received)
    for (const [sequence, id] of idOf(received)) expect(idOf(before).get(sequence)).toBe(id)
  })

  test('from a time begins with the first event since then, and from the future with the next one', async () => {
    const { url, received } = await receiver()
    await addEndpoint(books, { url })
    await sending.happen(1)
    await new Promise((resolve) => setTimeout(resolve, 5))
    const since = new Date()
    await sending.happen(2, 3)
    await sending.deliver()
    received.splice(0)
    const replay = (from: { since: Date }) =>
      inTransaction(books.db, (tx) => replayEndpoint(tx, { name: 'shop', by, from }))
    expect(await replay({ since })).toBe(2n)
    await sending.deliver()
    expect(ordered(received)).toEqual([2, 3])
    expect(await replay({ since: new Date(Date.now() + 60_000) })).toBe(4n)
    await sending.deliver()
    expect(received).toHaveLength(2)
  })

  test('sends again what is under way, and first what was not delivered yet', async () => {
    const hold = Promise.withResolvers<void>()
    const { url, received } = await receiver(async ({ sequence }) => {
      if (sequence === 2) await hold.promise
      return 200
    })
    await addEndpoint(books, { url })
    await sending.happen(1, 2)
    sending.sender.wake()
    await until('the first answer', () => (received.length === 1 ? true : null))
    await inTransaction(books.db, (tx) => replayEndpoint(tx, { name: 'shop', by, from: { sequence: 1n } }))
    hold.resolve()
    await sending.deliver()
    expect(ordered(received)).toEqual([1, 1, 2, 2])
  })
})

test('filters by type, service and owner leave out the others', async () => {
  const { url, received } = await receiver()
  await addEndpoint(books, { url, types: ['seal.published'], services: ['default'] })
  await addEndpoint(books, { name: 'of-owner', url, owners: ['shop-1'] })
  await addEndpoint(books, { name: 'of-other', url, services: ['other'] })
  await sending.happen(1, null, 2)
  await sending.deliver()
  expect(sequences(received)).toEqual([2])
  expect(await endpointNamed(books)).toMatchObject({ delivered: 3n, waiting: 0 })
})

test('a thin payload is without what happened', async () => {
  const { url, received } = await receiver()
  await addEndpoint(books, { url })
  await addEndpoint(books, { name: 'thin', url, payload: 'thin' })
  await sending.happen(7)
  await sending.deliver()
  const bodies = received.map(({ body }) => JSON.parse(body) as object)
  const common = { type: 'deposit.observed', sequence: '1', previous: null, deposit: '7', service: 'default' }
  expect(bodies.filter((body) => 'data' in body)).toHaveLength(1)
  for (const body of bodies) expect(body).toMatchObject(common)
})

test('the log of attempts is bounded', async () => {
  const { url } = await receiver()
  await addEndpoint(books, { url })
  await sending.happen(1, 2)
  await sending.deliver()
  await sql`update event_attempt set at = now() - interval '31 days' where sequence = 1`.execute(books.owner)
  await pruneAttempts(books.db)
  expect(await attempts()).toMatchObject([{ sequence: 2n, status: 204, problem: null }])
  await sql`select setval('event_attempt_id_seq', 2000000)`.execute(books.owner)
  await sending.happen(3)
  await sending.deliver()
  await pruneAttempts(books.db)
  expect(await attempts()).toMatchObject([{ sequence: 3n }])
})

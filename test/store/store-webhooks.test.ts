import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type NewWebhook, storeWebhooks, type WebhookStoreOutcome } from '../../src/store/webhooks.ts'
import { type Books, openBooks } from '../support/books.ts'
import { at } from '../support/evidence.ts'

let books: Books
beforeEach(async () => {
  books = await openBooks()
})
afterEach(() => books[Symbol.asyncDispose]())

function came(sourceKey: string, body = '{}', changes: Partial<NewWebhook> = {}): NewWebhook {
  return {
    source: 'webhook',
    sourceKey,
    body: Buffer.from(body),
    headers: {},
    receivedAt: at(1),
    copiesAt: [],
    ...changes,
  }
}

const store = async (...arrivals: NewWebhook[]): Promise<WebhookStoreOutcome[]> =>
  (await storeWebhooks(books.db, arrivals)).outcomes

const hash = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`

async function inboxRows() {
  const rows = await books.db
    .selectFrom('inbox')
    .innerJoin('inbox_pending', 'inbox_id', 'id')
    .selectAll()
    .orderBy('source_key')
    .execute()
  return rows.map(({ source_key, body }) => [source_key, body.toString()])
}

async function repeats() {
  const { rows } = await sql<{ key: string; count: bigint; first: Date; last: Date; newest: Date[] }>`
    select source_key as key, count, first_at as first, last_at as last, newest_at as newest
    from webhook_repeat join inbox on id = inbox_id order by source_key`.execute(books.db)
  return rows
}

async function conflicts() {
  const { rows } = await sql<{ subject: string; detail: Record<string, string>; severity: string }>`
    select subject, detail, severity from mismatch where kind = 'conflicting_duplicate' and cleared_at is null
    order by subject`.execute(books.db)
  return rows
}

test('what comes again is counted with its times, and stored once', async () => {
  expect(await store(came('a'))).toEqual(['stored'])
  expect(await store(came('a', '{}', { receivedAt: at(3) }), came('b'))).toEqual(['duplicate', 'stored'])
  expect(await store(came('a', '{}', { receivedAt: at(2) }))).toEqual(['duplicate'])
  expect(await inboxRows()).toEqual([
    ['a', '{}'],
    ['b', '{}'],
  ])
  expect(await repeats()).toEqual([
    { key: 'a', count: 2n, first: at(2), last: at(3), newest: [at(3), at(2)] },
  ])
})

test('copies that waited for the same commit are counted, whether their row is new or known', async () => {
  const copies = { copiesAt: [at(2), at(3)] }
  expect(await store(came('a', '{}', { receivedAt: at(1), ...copies }))).toEqual(['stored'])
  expect(await repeats()).toMatchObject([{ count: 2n, first: at(2), last: at(3) }])
  expect(await store(came('a', '{}', { receivedAt: at(4), ...copies }))).toEqual(['duplicate'])
  expect(await repeats()).toMatchObject([{ count: 5n, first: at(2), last: at(4) }])
})

test('of the times of many repeats the newest are kept, and the count goes on', async () => {
  const times = Array.from({ length: 50 }, (_, minute) => at(minute + 1))
  await store(came('a', '{}', { copiesAt: times.slice(0, 40) }))
  await store(came('a', '{}', { receivedAt: at(41), copiesAt: times.slice(41) }))
  expect(await repeats()).toEqual([
    { key: 'a', count: 50n, first: at(1), last: at(50), newest: times.toReversed().slice(0, 32) },
  ])
})

test('an id that comes with another body is kept twice, waits to be applied twice, and is a mismatch', async () => {
  await store(came('a', '1'))
  expect(await store(came('a', '2'))).toEqual(['conflicting'])
  expect(await inboxRows()).toEqual([
    ['a', '1'],
    [`a ${hash('2')}`, '2'],
  ])
  expect(await conflicts()).toEqual([
    {
      subject: 'webhook/a',
      severity: 'severe',
      detail: { event: 'a', bodies: [hash('1'), hash('2')].toSorted().join(', ') },
    },
  ])
})

test('each body of a conflict that comes again is a repeat of its own', async () => {
  await store(came('a', '1'))
  await store(came('a', '2'))
  expect(await store(came('a', '2', { receivedAt: at(5) }))).toEqual(['duplicate'])
  expect(await store(came('a', '1', { receivedAt: at(6) }))).toEqual(['duplicate'])
  expect(await repeats()).toMatchObject([
    { key: 'a', last: at(6) },
    { key: `a ${hash('2')}`, last: at(5) },
  ])
  expect(await conflicts()).toHaveLength(1)
})

const orders = [
  ['1', '2', '3'],
  ['1', '3', '2'],
  ['2', '1', '3'],
  ['2', '3', '1'],
  ['3', '1', '2'],
  ['3', '2', '1'],
]

test('what a mismatch says of a conflict does not depend on which body came first', async () => {
  for (const [place, bodies] of orders.entries()) {
    for (const body of bodies) await store(came(`${place}`, body))
  }
  const said = (await conflicts()).map(({ detail: { bodies } }) => bodies)
  expect(said).toEqual(orders.map(() => ['1', '2', '3'].map(hash).toSorted().join(', ')))
})

test('twenty bodies of one id at once: each is one row, and the one mismatch names the lowest hashes', async () => {
  const bodies = Array.from({ length: 20 }, (_, number) => `${number}`)
  const outcomes = (await Promise.all(bodies.map((body) => store(came('a', body))))).flat()
  expect(outcomes.toSorted()).toEqual([...Array(19).fill('conflicting'), 'stored'])
  expect(new Set((await inboxRows()).map(([, body]) => body))).toEqual(new Set(bodies))
  const lowest = bodies.map(hash).toSorted().slice(0, 8)
  expect(await conflicts()).toMatchObject([{ detail: { bodies: lowest.join(', ') } }])
})

test('a mismatch opens once and is told once, until a person ended it and yet another body comes', async () => {
  await store(came('a', '1'))
  const opened = await storeWebhooks(books.db, [came('a', '2')])
  expect(opened.mismatches).toMatchObject([{ kind: 'conflicting_duplicate', change: 'opened' }])
  expect((await storeWebhooks(books.db, [came('a', '2')])).mismatches).toEqual([])
  expect((await storeWebhooks(books.db, [came('a', '3')])).mismatches).toEqual([])
  await sql`update mismatch set cleared_at = now(), cleared_how = 'person'`.execute(books.db)
  expect((await storeWebhooks(books.db, [came('a', '2')])).mismatches).toEqual([])
  expect(await conflicts()).toEqual([])
  expect((await storeWebhooks(books.db, [came('a', '4')])).mismatches).toHaveLength(1)
})

test('new, repeated and conflicting webhooks of one commit each get their own answer, in their order', async () => {
  await store(came('known'), came('other', '1'))
  expect(await store(came('other', '2'), came('new'), came('known'))).toEqual([
    'conflicting',
    'stored',
    'duplicate',
  ])
})

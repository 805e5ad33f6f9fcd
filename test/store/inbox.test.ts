import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inTransaction } from '../../src/store/database.ts'
import {
  appendInbox,
  finishPending,
  type NewInboxRow,
  readPending,
  takePending,
} from '../../src/store/inbox.ts'
import { type Books, openBooks } from '../support/books.ts'
import { at } from '../support/evidence.ts'

let books: Books

beforeAll(async () => {
  books = await openBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

function row(sourceKey: string, changes: Partial<NewInboxRow> = {}): NewInboxRow {
  return { source: 'webhook', sourceKey, body: Buffer.from('{}'), headers: {}, receivedAt: at(1), ...changes }
}

const wide = { rowsMax: 10, bytesMax: 1_000_000 }

test('twenty who store one key at once: one stores it, and it is pending once', async () => {
  const race = Array.from({ length: 20 }, () => appendInbox(books.db, [row('race')]))
  const added = (await Promise.all(race)).flatMap((ids) => [...ids.keys()])
  expect(added).toEqual(['race'])
  const { rows } = await sql`
    select 1 from inbox i join inbox_pending p on p.inbox_id = i.id where source_key = 'race'`.execute(
    books.db,
  )
  expect(rows).toHaveLength(1)
})

test('one key of two sources is two observations', async () => {
  const sizes: number[] = []
  for (const source of ['webhook', 'api', 'webhook', 'api'] as const)
    sizes.push((await appendInbox(books.db, [row('shared', { source })])).size)
  expect(sizes).toEqual([1, 1, 0, 0])
})

test('only rows that were new are told, by key', async () => {
  await appendInbox(books.db, [row('known')])
  const added = await appendInbox(books.db, [row('new b'), row('known'), row('new a')])
  expect([...added.keys()].toSorted()).toEqual(['new a', 'new b'])
})

test('every byte comes back as it was stored, with its headers and time', async () => {
  await using own = await openBooks()
  const body = Buffer.from([0, 255, 0x7b, 0xd8, 0x00, 0x0a])
  await appendInbox(own.db, [row('bytes', { body, headers: { 'webhook-id': 'bytes' } })])
  const [taken] = await inTransaction(own.db, (tx) => takePending(tx, { ...wide, rowsMax: 1 }))
  expect(taken).toMatchObject({ body, headers: { 'webhook-id': 'bytes' }, receivedAt: at(1) })
})

test('a key that is empty and a source that is unknown are refused', async () => {
  await expect(appendInbox(books.db, [row('')])).rejects.toThrow('check')
  await expect(appendInbox(books.db, [row('x', { source: 'guess' as 'api' })])).rejects.toThrow('check')
})

test('pending rows are taken oldest first, each by one worker, and stay until they are finished', async () => {
  await using own = await openBooks()
  await appendInbox(own.db, [row('1')])
  await appendInbox(own.db, [row('2')])
  await appendInbox(own.db, [row('3')])
  const ids = await inTransaction(own.db, async (tx) => {
    const mine = await takePending(tx, { ...wide, rowsMax: 2 })
    const theirs = await inTransaction(own.db, (other) => takePending(other, wide))
    expect(theirs).toHaveLength(1)
    expect(theirs[0]?.id).toBeGreaterThan(mine[1]?.id ?? 0n)
    await finishPending(tx, [mine[0]?.id ?? 0n])
    return mine.map(({ id }) => id)
  })
  const left = await inTransaction(own.db, (tx) => takePending(tx, wide))
  expect(left.map(({ id }) => id)).toEqual([ids[1], (ids[1] ?? 0n) + 1n])
})

test('no more bodies are read at once than the bound on bytes allows, and one whatever its size', async () => {
  await using own = await openBooks()
  const sizes = [600, 300, 200, 5000, 1]
  for (const [place, size] of sizes.entries())
    await appendInbox(own.db, [row(`sized ${place}`, { body: Buffer.alloc(size, 'x') })])
  const taken: number[][] = []
  for (let rows = await takeSome(own); rows.length > 0; rows = await takeSome(own)) taken.push(rows)
  expect(taken).toEqual([[600, 300, 200], [5000], [1]])
})

function takeSome({ db }: Books): Promise<number[]> {
  return inTransaction(db, async (tx) => {
    const rows = await takePending(tx, { rowsMax: 4, bytesMax: 1000 })
    await finishPending(
      tx,
      rows.map(({ id }) => id),
    )
    return rows.map(({ body }) => body.length)
  })
}

test('the age of the oldest waiting row is told by the clock of the database', async () => {
  await using own = await openBooks()
  expect((await readPending(own.db)).oldest).toBe(0)
  await appendInbox(own.db, [row('waits')])
  await sql`update inbox_pending set stored_at = now() - interval '1 hour'`.execute(own.db)
  expect((await readPending(own.db)).oldest).toBeGreaterThanOrEqual(3600)
})

test('a key with half a surrogate pair is stored as text can hold it, and does not keep others out', async () => {
  const added = await appendInbox(books.db, [row('half \ud800'), row('beside it')])
  expect([...added.keys()].toSorted()).toEqual(['beside it', 'half \ufffd'])
})

test('bodies that share a statement keep to their own rows, empty ones too', async () => {
  const bodies = ['', 'first', '', '\u0000\\x27', 'z'.repeat(5000)]
  await appendInbox(
    books.db,
    bodies.map((body, place) => row(`beside ${place}`, { body: Buffer.from(body) })),
  )
  const { rows } = await sql<{ body: Buffer }>`
    select body from inbox where source_key like 'beside _' order by source_key`.execute(books.db)
  expect(rows.map(({ body }) => body.toString())).toEqual(bodies)
})

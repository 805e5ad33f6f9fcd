import { Client, Pool } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { createInboxWriter, type InboxOutcome, type ReceivedWebhook } from '../../src/intake/inbox-writer.ts'
import { deliver, startTestIntake, writerBounds } from '../support/intake.ts'
import { emptyDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
let pool: Pool
/** Looks on from outside while the pool's connections are cut. */
let observer: Client
beforeAll(async () => {
  database = await emptyDatabase()
  pool = new Pool({ connectionString: database.url, max: 4 })
  // One test cuts its connections on purpose.
  pool.on('error', () => undefined)
  observer = new Client({ connectionString: database.url })
  await observer.connect()
  await observer.query('create table inbox (source_key text primary key, body bytea not null)')
})
afterAll(async () => {
  await pool.end()
  await observer.end()
  await database.drop()
})

let statements = 0

async function store(rows: readonly ReceivedWebhook[]): Promise<InboxOutcome[]> {
  statements++
  const { rows: inserted } = await pool.query<{ source_key: string }>(
    `insert into inbox select * from unnest($1::text[], $2::bytea[])
     on conflict do nothing returning source_key`,
    [rows.map((row) => row.sourceKey), rows.map((row) => row.body)],
  )
  const fresh = new Set(inserted.map((row) => row.source_key))
  return rows.map((row) => (fresh.has(row.sourceKey) ? 'stored' : 'duplicate'))
}

/** As on a disk that takes its time: the commits of this test's server cost next to nothing. */
async function storeSlowly(rows: readonly ReceivedWebhook[]): Promise<InboxOutcome[]> {
  await pool.query('select pg_sleep(0.02)')
  return store(rows)
}

const start = (by = store) =>
  startTestIntake({ write: createInboxWriter({ ...writerBounds, store: by }).write })
const storedKeys = async () =>
  (await observer.query<{ source_key: string }>('select source_key from inbox')).rows.map(
    (row) => row.source_key,
  )

test('two hundred webhooks at once share a few commits, and each is one row', async () => {
  const intake = await start(storeSlowly)
  statements = 0
  const ids = Array.from({ length: 200 }, (_, number) => `many_${number}`)
  const responses = await Promise.all(ids.map((id) => deliver(intake, { id })))
  expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([202]))
  expect(await storedKeys()).toEqual(expect.arrayContaining(ids))
  expect(statements).toBeLessThan(50)
  await intake.stop()
})

test('twenty deliveries of one webhook at two endpoints at once are one row', async () => {
  const endpoints = [await start(), await start()]
  const sends = Array.from({ length: 20 }, (_, number) => endpoints[number % 2])
  await Promise.all(sends.flatMap((endpoint) => (endpoint ? [deliver(endpoint, { id: 'race' })] : [])))
  const outcomes = endpoints.flatMap(({ observed }) => observed.map(({ outcome }) => outcome))
  expect(outcomes.toSorted()).toEqual([...Array(19).fill('duplicate'), 'stored'])
  expect((await storedKeys()).filter((key) => key === 'race')).toHaveLength(1)
  await Promise.all(endpoints.map((endpoint) => endpoint.stop()))
})

test('a NUL and any other byte of a key or a body is kept', async () => {
  const intake = await start()
  await deliver(intake, { id: 'bytes', body: String.raw`{"a":"\u0000","b":"\ud800é"}` })
  const { rows } = await observer.query<{ body: Buffer }>(`select body from inbox where source_key = 'bytes'`)
  expect(rows[0]?.body.toString()).toBe(String.raw`{"a":"\u0000","b":"\ud800é"}`)
  await intake.stop()
})

const cutOthers = `select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid()`

test('while connections are being cut, whatever is answered 202 is a row', async () => {
  const intake = await start()
  const accepted: string[] = []
  const sendMany = async (lane: number) => {
    for (let number = 0; number < 15; number++) {
      const id = `cut_${lane}_${number}`
      if ((await deliver(intake, { id })).status === 202) accepted.push(id)
    }
  }
  const lanes = Promise.all(Array.from({ length: 8 }, (_, lane) => sendMany(lane)))
  const sending = new AbortController()
  const sent = lanes.finally(() => sending.abort())
  const acceptedSince = (count: number) => sending.signal.aborted || accepted.length > count
  while (!sending.signal.aborted) {
    const count = accepted.length
    await observer.query(cutOthers)
    await vi.waitUntil(() => acceptedSince(count), { interval: 1, timeout: 10_000 })
  }
  await sent
  expect(accepted.length).toBeGreaterThan(0)
  expect(await storedKeys()).toEqual(expect.arrayContaining(accepted))
  await expect.poll(async () => (await deliver(intake, { id: 'afterwards' })).status).toBe(202)
  await intake.stop()
})

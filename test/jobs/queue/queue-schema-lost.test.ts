import { Client } from 'pg'
import { afterEach, expect, test } from 'vitest'
import { prepareQueueSchema } from '../../../src/jobs/queue/schema.ts'
import { emptyDatabase } from '../../support/postgres.ts'
import { dropQueueSchema, openTestQueue, type TestQueue } from '../../support/queue.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** A queue on a database of its own, and a connection of that database's owner. */
async function openQueue(): Promise<{ queue: TestQueue; owner: Client; url: string }> {
  const { url, drop } = await emptyDatabase()
  ends.push(drop)
  const owner = new Client({ connectionString: url })
  await owner.connect()
  ends.push(() => owner.end())
  const queue = await openTestQueue(url, { stuckMs: 600 })
  ends.push(queue.stop)
  return { queue, owner, url }
}

test('a queue whose schema is dropped makes it again, and its worker goes on', async () => {
  const { queue, owner } = await openQueue()
  let runs = 0
  queue.work({ apply: async () => void runs++ }, { concurrency: 2 })
  await queue.wake('apply')
  await expect.poll(() => runs).toBe(1)
  await dropQueueSchema((text) => owner.query(text))
  await expect.poll(() => queue.wake('apply').then(() => 'woken', String), { timeout: 10_000 }).toBe('woken')
  await expect.poll(() => runs, { timeout: 10_000 }).toBe(2)
})

test('a user who may not make the schema names it, and goes on once its owner has made it', async () => {
  const { url, owner } = await openQueue()
  await owner.query(`create role queue_user login password 'q'; grant all on schema bullmq to queue_user;
    grant all on all tables in schema bullmq to queue_user; grant all on all sequences in schema bullmq to queue_user`)
  ends.push(() => owner.query('drop owned by queue_user; drop role queue_user'))
  const queue = await openTestQueue(as(url, 'queue_user', 'q'), { stuckMs: 600 })
  ends.push(queue.stop)
  let runs = 0
  queue.work({ apply: async () => void runs++ }, { concurrency: 2 })
  await queue.wake('apply')
  await expect.poll(() => runs).toBe(1)
  await dropQueueSchema((text) => owner.query(text))
  const named = /the schema bullmq is missing.* run .*depositd migrate/
  await expect
    .poll(() =>
      queue.events.map(
        ({ kind, ...event }) => kind === 'schema_unusable' && String('error' in event && event.error),
      ),
    )
    .toContainEqual(expect.stringMatching(named))
  await expect(queue.wake('apply')).rejects.toThrow('the schema bullmq is missing')
  await expect(queue.ping()).rejects.toThrow('the schema bullmq is missing')
  await prepareQueueSchema({ url, name: 'test' })
  await owner.query(`grant all on schema bullmq to queue_user;
    grant all on all tables in schema bullmq to queue_user; grant all on all sequences in schema bullmq to queue_user`)
  await expect.poll(() => queue.wake('apply').then(() => 'woken', String), { timeout: 10_000 }).toBe('woken')
  await expect.poll(() => runs, { timeout: 10_000 }).toBe(2)
})

test.each([
  [
    'older',
    'delete from bullmq.migration where version > 1',
    /the schema bullmq is at 1; this version needs \d+/,
  ],
  [
    'of a newer version that asks for a newer program',
    newer(99),
    /bullmq was created by a newer version .* needs BullMQ 99/,
  ],
])('a schema that is %s is named', async (_which, change, named) => {
  const { queue, owner } = await openQueue()
  await owner.query(change)
  await expect(queue.ping()).rejects.toThrow(named)
})

test('a schema of a newer version that this one can work with is a warning', async () => {
  const { queue, owner } = await openQueue()
  await owner.query(newer(6))
  expect(await queue.ping()).toMatch(/bullmq is at 9999; this version knows only \d+/)
})

function newer(client: number): string {
  return `insert into bullmq.migration (version, name, min_client_version) values (9999, 'newer', ${client})`
}

function as(url: string, user: string, password: string): string {
  return Object.assign(new URL(url), { username: user, password }).href
}

import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endEndpoint } from '../../../src/service/webhooks/endpoints.ts'
import { type NewEvent, sendTest, writeEvents } from '../../../src/service/webhooks/events.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { until } from '../../support/until.ts'
import { type Office, openOffice } from './office.ts'

let office: Office

beforeAll(async () => {
  office = await openOffice()
})

afterAll(() => office.close())

function event(number: number, changes: Partial<NewEvent> = {}): NewEvent {
  const fields = { id: `evt_${number}`, type: 'endpoint.test', body: '{}', created_at: new Date() }
  return { ...fields, deposit_id: null, revision: null, ...changes }
}

function write(...events: NewEvent[]): Promise<void> {
  return inTransaction(office.book.db, (tx) => writeEvents(tx, events))
}

test('an event without a deposit is a test, and a test is of no deposit', async () => {
  await office.happen()
  const [deposit] = (await office.book.list('')).data
  const refused = /event_type_check|which is not its current one/
  const reported = { deposit_id: deposit?.id ?? '', revision: 1 }
  await expect(write(event(1, { type: 'deposit.detected' }))).rejects.toThrow(refused)
  await expect(write(event(1, reported))).rejects.toThrow(refused)
  await expect(write(event(1, { ...reported, revision: null }))).rejects.toThrow(refused)
  await expect(write(event(1, { type: 'endpoint.other' }))).rejects.toThrow(refused)
  await expect(write(event(1))).resolves.toBeUndefined()
})

test('Postgres refuses to rewrite an event', async () => {
  const rewrite = sql`update service.event set body = '{"a":1}'`.execute(office.book.db)
  await expect(rewrite).rejects.toThrow('cannot be changed')
})

test('no event ever appears below one that was listed', async () => {
  const { db } = office.book
  const writers = Array.from({ length: 20 }, (_, place) =>
    inTransaction(db, async (tx) => {
      await writeEvents(tx, [event(100 + place)])
      await sql`select pg_sleep(${Math.random() * 0.02})`.execute(tx)
    }),
  )
  const seen = new Set<bigint>()
  await until('all are listed', async () => {
    const { rows } = await sql<{ sequence: bigint }>`select sequence from service.event`.execute(db)
    const fresh = rows.filter(({ sequence }) => !seen.has(sequence))
    const below = fresh.filter(({ sequence }) => [...seen].some((other) => other > sequence))
    expect(below).toEqual([])
    for (const { sequence } of fresh) seen.add(sequence)
    return seen.size >= writers.length ? true : null
  })
  await Promise.all(writers)
})

test('what happens while an endpoint is deleted waits for the end of that, and is not sent to it', async () => {
  const { db } = office.book
  const receiver = await office.receiver()
  const { promise: waited, resolve: commit } = Promise.withResolvers<void>()
  const deleting = inTransaction(db, async (tx) => {
    await endEndpoint(tx, receiver.endpoint.id, { status: 'deleted' })
    await waited
  })
  await until('the deletion has its lock', () => locks('granted'))
  const happening = office.happen()
  await until('the event waits', () => locks('not granted'))
  commit()
  await Promise.all([deleting, happening])
  expect(await office.deliveriesOf(receiver)).toEqual([])
})

async function locks(state: 'granted' | 'not granted'): Promise<true | null> {
  const { rows } = await sql<{ granted: boolean }>`
    select granted from pg_locks where locktype in ('transactionid', 'tuple') and pid <> pg_backend_pid()
      and pid in (select pid from pg_stat_activity where datname = current_database())`.execute(
    office.book.db,
  )
  return rows.some(({ granted }) => granted === (state === 'granted')) ? true : null
}

test('endpoints come and go under events, tests and resends without a deadlock that is seen', async () => {
  const { db } = office.book
  for (let round = 0; round < 3; round++) {
    const receivers = await Promise.all([office.receiver(), office.receiver(), office.receiver()])
    await Promise.all([
      ...Array.from({ length: 6 }, () => office.happen()),
      ...receivers.map((receiver) => office.remove(receiver)),
      ...receivers.map(({ endpoint }) => sendTest(db, endpoint.id, office.now())),
    ])
  }
  const { rows } = await sql`
    select from service.delivery join service.webhook_endpoint as endpoint on endpoint.id = endpoint_id
    where endpoint.status <> 'active' and delivery.status = 'pending'`.execute(db)
  expect(rows).toHaveLength(0)
})

import { expect, test } from 'vitest'
import { createClaimReader, readItems } from '../../src/provider/read-claim.ts'
import { at, webhook } from '../support/evidence.ts'
import { ownEvent, vocabulary } from '../support/own-payloads.ts'
import { batchingProfile } from '../support/profile.ts'

const read = createClaimReader(batchingProfile, vocabulary)
const event = ownEvent(webhook(), { type: 'deposit.settled', status: 'settled' })
const second = { ...event, data: { ...event.data, id: 'dep_2' } }
const ping = { id: 'evt_9', type: 'endpoint.test', created_at: event.created_at }
const unknown = { ...event, data: { ...event.data, status: 'teleported' } }
const undated = { ...event, created_at: 'yesterday' }

const readAll = (payload: unknown, reader = read) =>
  readItems(reader, { source: 'webhook', body: Buffer.from(JSON.stringify(payload)), receivedAt: at(9) })

test('each item is read as if it were sent alone', () => {
  const [alone] = readAll({ events: [second] })
  expect(alone).toMatchObject({ kind: 'claim', items: 1, claim: { serviceId: 'dep_2', occurredAt: at(3) } })
  const [, together] = readAll({ events: [event, second, ping] })
  expect(together).toEqual({ ...alone, items: 3 })
})

test('an item that is ignored or cannot be read is named by its path, and leaves the others alone', () => {
  expect(readAll({ events: [ping, unknown, event, {}, undated] })).toMatchObject([
    { kind: 'ignored', by: { key: 'webhook.kind', path: 'events.0.type', value: 'endpoint.test' } },
    { kind: 'unknown_status', path: 'events.1.data.status', value: 'teleported' },
    { kind: 'claim', claim: { serviceId: 'dep_1' } },
    { kind: 'schema_drift', path: 'events.3.type', problem: 'is missing' },
    { kind: 'schema_drift', path: 'events.4.created_at' },
  ])
})

const ignored = { kind: 'ignored', by: { key: 'webhook.items', path: 'events', value: null } }

test.each([
  ['an empty list is ignored', [], ignored],
  ['a missing list', undefined, { kind: 'schema_drift', path: 'events', problem: 'is missing' }],
  ['an object', event, { kind: 'schema_drift', path: 'events', problem: 'is no list' }],
  [
    'more items than are read',
    Array.from({ length: 201 }, () => event),
    { kind: 'schema_drift', path: 'events', problem: 'has 201 items; at most 200 are read' },
  ],
])('%s', (_what, events, reading) => {
  expect(readAll({ events })).toMatchObject([reading])
})

test('an item that the list does not have is ignored', () => {
  const body = Buffer.from(JSON.stringify({ events: [event] }))
  expect(read({ source: 'webhook', body, receivedAt: at(9), item: 2 })).toMatchObject(ignored)
})

test('a path that begins with $. starts at the payload', () => {
  const { webhook: section } = batchingProfile
  const field: typeof section.occurredAt = {
    paths: ['$.sent'],
    absent: [],
    presence: 'required',
    as: 'iso',
  }
  const reader = createClaimReader(
    { ...batchingProfile, webhook: { ...section, occurredAt: field } },
    vocabulary,
  )
  expect(readAll({ sent: at(7).toISOString(), events: [event, second] }, reader)).toMatchObject([
    { claim: { serviceId: 'dep_1', occurredAt: at(7) } },
    { claim: { serviceId: 'dep_2', occurredAt: at(7) } },
  ])
  expect(readAll({ events: [event] }, reader)).toMatchObject([{ kind: 'schema_drift', path: 'sent' }])
})

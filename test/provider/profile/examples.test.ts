import { expect, test } from 'vitest'
import { read, receivedAt, sample } from './samples.ts'

type Event = { data: Record<string, unknown> } & Record<string, unknown>

const fixture = (name: string) => sample(name) as Event

const changed = (event: Event, data: Record<string, unknown>) => ({
  ...event,
  data: { ...event.data, ...data },
})

test('fireblocks: the asset tells the network, amounts are units, times milliseconds', () => {
  const event = fixture('fireblocks')
  expect(read('fireblocks', 'webhook', event)).toEqual({
    kind: 'claim',
    claim: {
      kind: 'claim',
      source: 'webhook',
      serviceId: '0b7e2c34-88a1-4c55-bd0a-5a2f7d9d1c22',
      owner: { kind: 'stable_wallet', id: '21' },
      status: 'settled',
      deposit: {
        network: 'base',
        address: '0x00000000000000000000000000000000000000aa',
        asset: 'base/0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
        amount: 12_500_000n,
        tx: `0x${'1'.repeat(64)}`,
        index: '37',
      },
      settlement: null,
      occurredAt: new Date(1766310005123),
      receivedAt,
    },
  })
})

test('fireblocks: what leaves a vault and what is on no chain yet are passed over; new words are named', () => {
  const event = fixture('fireblocks')
  const out = changed(event, { destination: { id: 'x', type: 'EXTERNAL_WALLET' } })
  expect(read('fireblocks', 'webhook', out)).toMatchObject({ kind: 'ignored' })
  expect(read('fireblocks', 'webhook', changed(event, { status: 'QUEUED', txHash: '' }))).toMatchObject({
    kind: 'ignored',
  })
  expect(read('fireblocks', 'webhook', { ...event, eventType: 'vault_account.created' })).toMatchObject({
    kind: 'ignored',
  })
  expect(read('fireblocks', 'webhook', changed(event, { status: 'PAUSED' }))).toMatchObject({
    kind: 'unknown_status',
    path: 'data.status',
    problem: 'unknown status PAUSED',
  })
  expect(read('fireblocks', 'webhook', changed(event, { assetId: 'DOGE' }))).toMatchObject({
    kind: 'schema_drift',
    path: 'data.assetId',
    problem: 'unknown asset DOGE',
  })
})

test('layer1: every digit of an amount counts, and a record says the same as the event, at its own time', () => {
  const event = fixture('bvnk-layer1')
  const reported = read('bvnk-layer1', 'webhook', event)
  expect(reported).toMatchObject({
    claim: {
      owner: { kind: 'stable_wallet', id: '5d2c1b0a-9f8e-4d7c-8b6a-504132231405' },
      status: 'settled',
      deposit: {
        network: 'mainnet',
        asset: 'mainnet/native',
        amount: 123_456_789_012_345_678n,
        tx: `0x${'2'.repeat(64)}`,
        index: null,
      },
      occurredAt: new Date('2026-02-03T10:20:30.123Z'),
    },
  })
  const listed = read('bvnk-layer1', 'api', event.data)
  if (reported.kind !== 'claim' || listed.kind !== 'claim') throw new Error('both are read')
  expect(listed.claim).toEqual({
    ...reported.claim,
    source: 'api',
    occurredAt: new Date('2026-02-03T10:20:29.999Z'),
  })
})

test('layer1: events of other things are passed over, a status without a meaning is named', () => {
  const event = fixture('bvnk-layer1')
  expect(read('bvnk-layer1', 'webhook', { ...event, event: 'layer1:digital:balance:updated' })).toMatchObject(
    {
      kind: 'ignored',
    },
  )
  expect(read('bvnk-layer1', 'webhook', { ...event, event: 'layer2:deposit' })).toMatchObject({
    kind: 'unknown_event',
    path: 'event',
  })
  expect(read('bvnk-layer1', 'webhook', changed(event, { type: 'CONSOLIDATION' }))).toMatchObject({
    kind: 'ignored',
  })
  expect(read('bvnk-layer1', 'webhook', changed(event, { status: 'FROZEN' }))).toMatchObject({
    kind: 'unknown_status',
    path: 'data.status',
  })
})

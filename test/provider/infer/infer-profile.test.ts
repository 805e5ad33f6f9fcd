import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { knownNetworks } from '../../../src/config/known-networks.ts'
import { assetsOf } from '../../../src/config/network-schema.ts'
import type { NetworkName, NetworkSettings } from '../../../src/core/asset.ts'
import { samplesInItems } from '../../../src/provider/infer/find-items.ts'
import { inferProfile, type Samples } from '../../../src/provider/infer/infer-profile.ts'
import { writeProfile } from '../../../src/provider/infer/write-profile.ts'
import { parseLossless } from '../../../src/provider/lossless-json.ts'
import { loadProfile, parseProfile } from '../../../src/provider/profile/parse-profile.ts'
import type { Profile } from '../../../src/provider/profile/profile-schema.ts'
import { createClaimReader, readItems } from '../../../src/provider/read-claim.ts'
import { at } from '../../support/evidence.ts'
import { otherEvent, otherRecord } from '../../support/other-service.ts'
import { creditAsset, eventOf, hints, lives, networks, noHints } from './lives.ts'

const ping = {
  id: 'evt_ping',
  type: 'endpoint.test',
  created_at: at(0).toISOString(),
  data: { endpoint: { id: 'ep', url: 'u' } },
}
const events = lives.map(eventOf)

const ours = {
  webhooks: [ping, ...events].map((event) => JSON.stringify(event)),
  records: lives.map((record) => JSON.stringify(record)),
}
const theirs = {
  webhooks: [ping, ...events].map((event) => JSON.stringify(otherEvent(event))),
  records: lives.map((record) => JSON.stringify(otherRecord(record))),
}

function infer(samples: Samples, known = hints): { profile: Profile; text: string } {
  const text = writeProfile(inferProfile(samples, known), ['made by a test'])
  const { profile, faults } = parseProfile(text)
  if (profile === null) throw new Error(`${faults.join('\n')}\n${text}`)
  return { profile, text }
}

const parsed = (texts: readonly string[]) => texts.map(parseLossless)

function readWith(profile: Profile, source: 'webhook' | 'api', texts: readonly string[]) {
  const read = createClaimReader(profile, { networks, creditAsset })
  return texts.map((text) => {
    const reading = read({ source, body: Buffer.from(text), receivedAt: at(99) })
    // Services have words of their own for what is ignored.
    return reading.kind === 'ignored' ? { kind: reading.kind } : reading
  })
}

const depositd = loadProfile('profiles/depositd.yaml')
const said = {
  webhook: readWith(depositd, 'webhook', ours.webhooks),
  api: readWith(depositd, 'api', ours.records),
}

test('the samples are read by the profile that comes along, so that it can be held against what is inferred', () => {
  expect(said.webhook.map(({ kind }) => kind)).toEqual(['ignored', ...events.map(() => 'claim')])
  expect(said.api.every(({ kind }) => kind === 'claim')).toBe(true)
})

test('a kind of event without a deposit that names withdrawals is one of withdrawals', () => {
  const event = { ...ping, id: 'evt_out', type: 'withdrawal.settled' }
  const payloads = parsed([...ours.webhooks, JSON.stringify(event)])
  const { profile } = infer({ payloads, answers: [] })
  expect(profile.webhook.kind?.words).toEqual({
    'deposit.*': 'deposit',
    'endpoint.test': 'ignored',
    'withdrawal.settled': 'withdrawal',
  })
})

describe.each([
  { shape: "the project's own service", samples: ours },
  { shape: 'a service of another shape', samples: theirs },
])('from $shape', ({ samples }) => {
  const { webhooks, records } = samples
  describe.each([
    { known: 'with an address book', book: hints },
    { known: 'without an address book', book: noHints },
  ])('$known', ({ book }) => {
    test('webhooks alone give a profile that reads them as they are meant', () => {
      const { profile } = infer({ payloads: parsed(webhooks), answers: [] }, book)
      expect(readWith(profile, 'webhook', webhooks)).toEqual(said.webhook)
      expect(readWith(profile, 'api', records)).toEqual(said.api)
    })

    test('webhooks and records give a profile that reads both as they are meant', () => {
      const { profile } = infer({ payloads: parsed(webhooks), answers: parsed(records) }, book)
      expect(readWith(profile, 'webhook', webhooks)).toEqual(said.webhook)
      expect(readWith(profile, 'api', records)).toEqual(said.api)
    })

    test('records alone give a profile that reads them as they are meant', () => {
      const { profile } = infer({ payloads: [], answers: parsed(records) }, book)
      expect(readWith(profile, 'api', records)).toEqual(said.api)
    })
  })
})

const legs = (record: object) => ({ ...record, transfers: [{ ...record }, { ...record }] })

describe.each([
  { known: 'with records of the API', answers: parsed(ours.records) },
  { known: 'from webhooks alone', answers: [] },
])('events that come several in one webhook, $known', ({ answers }) => {
  const batches = Map.groupBy(ours.webhooks, (_webhook, place) => Math.floor(place / 3))
  const texts = [...batches.values()].map((some) => `{"sent":"now","events":[${some.join()}]}`)

  test('are read like single ones', () => {
    const samples = samplesInItems({ payloads: parsed(texts), answers }, hints)
    const { profile } = infer(samples)
    expect(profile.webhook).toMatchObject({ items: 'events', record: 'data' })
    expect(profile.webhook.id).toBeUndefined()
    const read = createClaimReader(profile, { networks, creditAsset })
    const readings = texts.flatMap((text) =>
      readItems(read, { source: 'webhook', body: Buffer.from(text), receivedAt: at(99) }),
    )
    const withoutCounts = readings.map(({ items: _items, ...reading }) =>
      reading.kind === 'ignored' ? { kind: reading.kind } : reading,
    )
    expect(withoutCounts).toEqual(said.webhook)
  })

  test('are not taken for a list inside a record', () => {
    const payloads = lives.map((record) => legs(record))
    const records = answers.map((record) => legs(record as object))
    expect(
      samplesInItems({ payloads, answers: records.length > 0 ? [records] : [] }, hints),
    ).not.toHaveProperty('items')
  })
})

const fixture = (name: string) =>
  parseLossless(readFileSync(join(import.meta.dirname, `../profile/fixtures/${name}.json`), 'utf8'))

describe('from one webhook of a publicly documented service, which tells of one transfer alone', () => {
  const networksOfWorld = knownNetworks.map((entry): NetworkSettings => {
    const { family, chainId } = entry
    return { name: entry.name as NetworkName, family, chainId, rpcUrls: [], assets: assetsOf(entry) }
  })
  const inferred = (name: string) =>
    inferProfile({ payloads: [fixture(name)], answers: [] }, { ...noHints, networks: networksOfWorld })

  test('what it went to is the deposit, what it came from is not, and no delivery is made up', () => {
    const { profile } = inferred('bvnk-layer1')
    expect(profile).toMatchObject({
      webhook: { kind: { paths: 'event' }, record: 'data', occurredAt: 'timestamp' },
      record: {
        id: 'id',
        status: { paths: 'status', words: { SUCCESS: 'settled' } },
        createdAt: 'createdAt',
        occurredAt: 'updatedAt',
        deposit: {
          network: 'address.network',
          asset: { paths: 'asset', as: 'symbol' },
          transaction: 'hash',
        },
      },
      networks: { ETHEREUM: 'mainnet' },
    })
    expect(profile.record).not.toHaveProperty('settlement')
    expect(profile.record).not.toHaveProperty('owner')
  })

  test('a word for an asset that is not in the settings is marked', () => {
    const { profile, doubts } = inferred('fireblocks')
    expect(profile).toMatchObject({
      webhook: { id: 'id', kind: { paths: 'eventType' }, occurredAt: { paths: 'createdAt', as: 'ms' } },
      record: {
        id: 'id',
        occurredAt: { paths: 'lastUpdated', as: 'ms' },
        deposit: {
          address: 'destinationAddress',
          asset: { paths: 'assetId', as: 'symbol' },
          amount: { paths: 'amount', as: 'units' },
          transaction: 'txHash',
          index: 'logIndex',
        },
      },
    })
    expect(doubts).toContainEqual({
      path: ['record', 'deposit', 'asset'],
      text: 'USDC_BASECHAIN_ETH_5I5C is no symbol of the settings: name it under assets',
    })
  })
})

test('of a payload that tells of no deposit, everything that a profile needs is marked as not found', () => {
  const { profile, doubts } = inferProfile({ payloads: [parseLossless('{"ok":true}')], answers: [] }, noHints)
  expect(profile).toMatchObject({ record: { id: 'not-found', deposit: { address: 'not-found' } } })
  expect(doubts.map(({ path }) => path.join('.'))).toEqual([
    'record.id',
    'record.status.paths',
    'record.deposit.address',
    'record.deposit.asset',
    'record.deposit.amount',
  ])
})

const record = (time: string) => ({ id: time, created: `2026-11-20T10:00:0${time}Z` })

function listOf(answer: object): unknown {
  return inferProfile({ payloads: [], answers: [parseLossless(JSON.stringify(answer))] }, noHints).profile
    .list
}

describe('pages of a list', () => {
  test.each([
    [
      { data: [record('2'), record('1')], next_cursor: 'x' },
      { items: 'data', pages: 'cursor', next: 'next_cursor' },
    ],
    [
      { result: { rows: [record('2'), record('1')] }, page: 0 },
      { items: 'result.rows', pages: 'page', firstPage: 0 },
    ],
    [
      { list: [record('1'), record('2')], offset: 0, total: 9 },
      { items: 'list', pages: 'offset', order: 'oldest-first' },
    ],
    [[record('2'), record('1')], { items: null }],
  ])('%j', (answer, draft) => {
    expect(listOf(answer)).toEqual(draft)
  })
})

import { describe, expect, test } from 'vitest'
import { inferProfile, type Samples } from '../../../src/provider/infer/infer-profile.ts'
import { writeProfile } from '../../../src/provider/infer/write-profile.ts'
import { parseLossless } from '../../../src/provider/lossless-json.ts'
import { loadProfile } from '../../../src/provider/profile/load-profile.ts'
import { parseProfile } from '../../../src/provider/profile/parse-profile.ts'
import type { Profile } from '../../../src/provider/profile/profile-schema.ts'
import { createClaimReader } from '../../../src/provider/read-claim.ts'
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
  return texts.map((text) => read({ source, body: Buffer.from(text), receivedAt: at(99) }))
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

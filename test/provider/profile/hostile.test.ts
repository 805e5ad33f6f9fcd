import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { assert, constantFrom, dictionary, jsonValue, property, string } from 'fast-check'
import { test } from 'vitest'
import { createClaimReader } from '../../../src/provider/read-claim.ts'
import { claim } from '../../support/evidence.ts'
import { ownEvent, ownRecord, vocabulary } from '../../support/own-payloads.ts'
import { profileOf } from '../../support/profile.ts'

type Json = { [name: string]: unknown }

const folder = join(import.meta.dirname, '../../../profiles')
const read = readdirSync(folder).map((file) =>
  createClaimReader(profileOf(file.replace('.yaml', '')), vocabulary),
)
const kinds = ['claim', 'ignored', 'unknown_event', 'unknown_status', 'schema_drift']

/** Every reader has to give an answer; one that throws would hold up what stands beside the payload. */
function answers(document: unknown): boolean {
  const body = Buffer.from(JSON.stringify(document))
  return (['webhook', 'api'] as const).every((source) =>
    read.every((one) => kinds.includes(one({ source, body, receivedAt: new Date(0) }).kind)),
  )
}

/** Paths of all values, those of objects included. */
function pathsOf(value: unknown, path: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [[...path]]
  return [[...path], ...Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name]))]
}

function withValue(document: Json, path: readonly string[], value: unknown): unknown {
  const [name, ...rest] = path
  if (name === undefined) return value
  return { ...document, [name]: withValue(document[name] as Json, rest, value) }
}

test('no document is too strange for an answer', () => {
  assert(property(jsonValue(), answers), { numRuns: 300 })
  const names = constantFrom('id', 'data', 'type', 'event', 'eventType', 'status', '__proto__', 'toString')
  assert(property(dictionary(names, jsonValue()), answers), { numRuns: 300 })
})

test('nor is anything in the place of what the service sends', () => {
  const event = ownEvent(claim(), { type: 'deposit.settled', status: 'settled' })
  const record = ownRecord(claim(), 'settled')
  for (const document of [event, record] as Json[]) {
    const places = constantFrom(...pathsOf(document))
    const inPlace = property(places, jsonValue(), (path, value) => answers(withValue(document, path, value)))
    assert(inPlace, { numRuns: 300 })
    const words = property(places, string({ unit: 'binary' }), (path, value) =>
      answers(withValue(document, path, value)),
    )
    assert(words, { numRuns: 300 })
  }
})

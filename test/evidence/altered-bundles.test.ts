import { afterAll, beforeAll, expect, test } from 'vitest'
import { documentText, sha256Of } from '../../src/evidence/bundle.ts'
import { verifyBundle } from '../../src/evidence/verify-bundle.ts'
import {
  type Document,
  failedOf,
  forged,
  makeBundleOfTwo,
  rewrite,
  rowOf,
  verifyDocument,
} from '../support/evidence-bundle.ts'
import { type EvidenceWorld, openEvidenceWorld } from '../support/evidence-world.ts'

let world: EvidenceWorld
let text: string

beforeAll(async () => {
  world = await openEvidenceWorld()
  const { made, text: document } = await makeBundleOfTwo(world)
  expect(made).toMatchObject({ status: 0, err: '' })
  text = document
})
afterAll(() => world[Symbol.asyncDispose]())

/** One third of all alterations, another one each time; `ALL=1` tries all of them. */
const part = process.env.ALL === '1' ? 1 : 3
const first = Date.now() % part
const isTried = (_: unknown, place: number) => place % part === first

/** Every place of a document that holds a value, by its way from the top. */
function leaves(value: unknown, way: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0) return [[...way]]
  return Object.entries(value).flatMap(([name, item]) => leaves(item, [...way, name]))
}

function altered(document: string, way: readonly string[], change: (value: unknown) => unknown): Document {
  const copy = JSON.parse(document) as Document
  const [last = '', ...before] = way.toReversed()
  let place = copy as unknown as Record<string, unknown>
  for (const name of before.toReversed()) place = place[name] as Record<string, unknown>
  place[last] = change(place[last])
  return copy
}

/** Something else of the same kind. */
function other(value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value !== 'string') return 'something'
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return new Date(new Date(value).getTime() + 1000).toISOString()
  return /^\d+$/.test(value)
    ? (BigInt(value) + 1n).toString()
    : `${value.slice(0, -1)}${value.endsWith('x') ? 'y' : 'x'}`
}

test('whatever single value is altered, the bundle is refused', { timeout: 120_000 }, () => {
  const ways = leaves(JSON.parse(text))
  expect(ways.length).toBeGreaterThan(300)
  const accepted = ways
    .filter(isTried)
    .filter((way) => failedOf(verifyBundle(documentText(altered(text, way, other)))).length === 0)
  expect(accepted).toEqual([])
})

test('whatever single value is left out, the bundle is refused', { timeout: 120_000 }, () => {
  const ways = leaves(JSON.parse(text))
  const without = (way: readonly string[]) => {
    const copy = altered(text, way, () => undefined)
    return documentText(copy)
  }
  expect(ways.filter(isTried).filter((way) => failedOf(verifyBundle(without(way))).length === 0)).toEqual([])
})

test('a flipped bit is found wherever it is', { timeout: 120_000 }, () => {
  const bytes = Buffer.from(text)
  const step = 97 * part
  const accepted: number[] = []
  for (let place = first; place < bytes.length; place += step) {
    const flipped = Buffer.from(bytes)
    flipped[place] = (flipped[place] ?? 0) ^ (1 << (place % 8))
    if (failedOf(verifyBundle(flipped.toString())).length === 0) accepted.push(place)
  }
  expect(accepted).toEqual([])
})

test.each([
  ['a tab for a blank', '\n  "format"', '\n\t"format"'],
  ['a key that is there twice', '  "format"', '  "format": "other",\n  "format"'],
  ['a number in another spelling', '"chainId": 8453', '"chainId": 8453.0'],
  ['a letter by its number', '"format"', '"\\u0066ormat"'],
])('%s is found, though it says the same', (_what, from, to) => {
  expect(text).toContain(from)
  expect(failedOf(verifyBundle(text.replace(from, to)))).toEqual(['form'])
})

test('a document whose hashes were made anew has right hashes', async () => {
  expect(
    (
      await verifyDocument(
        world,
        forged(text, () => undefined),
      )
    ).verified,
  ).toBe(true)
})

test('with hashes made anew, an altered amount of a record no longer gives the verdict', async () => {
  const printed = await verifyDocument(
    world,
    forged(text, (document) => rewrite(rowOf(document, 'api'), '100000000', '200000000')),
  )
  expect(failedOf(printed)).toEqual(expect.arrayContaining(['verdict']))
  expect(failedOf(printed)).not.toContain('hashes')
})

test('with hashes made anew, a body that does not say what is told of it is found', async () => {
  const printed = await verifyDocument(
    world,
    forged(text, (document) => {
      const row = rowOf(document, 'api')
      row.says = { ...row.says, status: 'confirmed' }
    }),
  )
  expect(failedOf(printed)).toEqual(['readings'])
})

test('with hashes made anew, an altered webhook that leaves the verdict as it is fails by its signature alone', async () => {
  const document = forged(text, (one) => {
    const row = rowOf(one, 'webhook')
    const body = Buffer.from(Buffer.from(row.body, 'base64').toString().replace('evt_1', 'evt_9'))
    row.body = body.toString('base64')
    row.bodySha256 = sha256Of(body)
  })
  expect((await verifyDocument(world, document)).verified).toBe(true)
  const printed = await verifyDocument(world, document, { environment: { WEBHOOK_SECRETS: world.secret } })
  expect(failedOf(printed)).toEqual(['signatures'])
})

test('with hashes made anew, an altered journal is not what the evidence asks for', async () => {
  const printed = await verifyDocument(
    world,
    forged(text, ({ parts }) => {
      const journals = parts.journals as { kind: string; transfers: { amount: string }[] }[]
      const transfer = journals.findLast(({ kind }) => kind === 'settlement')?.transfers[0]
      if (transfer) transfer.amount = '1'
    }),
  )
  expect(failedOf(printed)).toContain('verdict')
})

test('with hashes made anew, a reversal that takes back something else is found', async () => {
  const printed = await verifyDocument(
    world,
    forged(text, ({ parts }) => {
      const journals = parts.journals as { kind: string; transfers: { amount: string }[] }[]
      const transfer = journals.find(({ kind }) => kind === 'reversal')?.transfers[0]
      if (transfer) transfer.amount = '1'
    }),
  )
  expect(failedOf(printed)).toEqual(['journals'])
})

test('with hashes made anew, another policy gives another verdict', async () => {
  const printed = await verifyDocument(
    world,
    forged(text, ({ parts }) => {
      const { policy } = parts.policy as { policy: Record<string, unknown> }
      policy.webhookWithinMs = 10 ** 12
    }),
  )
  expect(failedOf(printed)).toContain('verdict')
})

test('with hashes made anew, a mismatch that is kept back is found', async () => {
  const printed = await verifyDocument(
    world,
    forged(text, ({ parts }) => {
      parts.mismatches = (parts.mismatches as { kind: string }[]).filter(
        ({ kind }) => kind !== 'settlement_short',
      )
    }),
  )
  expect(failedOf(printed)).toEqual(['mismatches'])
})

test('who signs nothing by the bundle, and gives a secret all the same, is told so', async () => {
  const document = forged(text, ({ parts }) => {
    const { default: service } = parts.services as Record<string, { webhooks: unknown }>
    if (service !== undefined) service.webhooks = { scheme: 'none' }
  })
  expect(
    failedOf(await verifyDocument(world, document, { environment: { WEBHOOK_SECRETS: world.secret } })),
  ).toEqual(['signatures'])
})

test('with hashes made anew, a mismatch that is told of as ended while the evidence holds it is found', async () => {
  const printed = await verifyDocument(
    world,
    forged(text, ({ parts }) => {
      for (const one of parts.mismatches as { clearedAt: string | null; clearedHow: string | null }[]) {
        one.clearedAt ??= '2026-01-01T00:00:00.000Z'
        one.clearedHow ??= 'person'
      }
    }),
  )
  expect(failedOf(printed)).toEqual(['mismatches'])
})

import {
  array,
  assert,
  asyncProperty,
  constant,
  constantFrom,
  jsonValue,
  oneof,
  record,
  string,
  tuple,
} from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readRoutes } from '../../src/api/routes.ts'
import { writeCursor } from '../../src/http/pages.ts'
import { channelAddress, txId } from '../support/evidence.ts'
import { openReadBooks, type ReadClient, serveReadApi } from '../support/read-api.ts'

const stack = new AsyncDisposableStack()
let api: ReadClient

beforeAll(async () => {
  const books = stack.use(await openReadBooks())
  api = await serveReadApi(books, stack, { limit: { perSecond: 10_000, burst: 100_000 } })
})
afterAll(() => stack.disposeAsync())

/** Values that one parameter or another accepts, and nearly. */
const known = [
  ['1', '0', '-1', '10', '999999999999999999', '9999999999999999999', '1e3', '٣', '1.5', 'NaN', 'null', ''],
  [
    'shop',
    'channel:shop',
    'acme',
    'acme/shop',
    'default',
    'none',
    'base',
    'savings',
    '../v1',
    '%',
    '%00',
    "'",
  ],
  ['open', 'all', 'snoozed', 'settled', 'reconciled', 'ignored', 'severe', 'unreported', 'dep_1'],
  ['0s', '61s', '1m', '2026-01', '2026-13', '2099-12', '0000-01'],
  ['2026-01-01T00:00:00Z', '1970-01-01T00:00:00Z', '9999-12-31T23:59:59.999999999Z', '0001-01-01T00:00:00Z'],
  ['2026-02-30T00:00:00Z', '2026-01-01T00:00:00+23:59', '2026-01-01', 'infinity', 'now'],
  ['2026-01-01 00:00:00+00', '2026-02-30 00:00:00+00', '9999-12-31 00:00:00-15'],
  [txId('pay1'), channelAddress, 'a'.repeat(201), '\u{1F600}', '\uFEFF', 'a\nb', '\u0000', '*', '_%'],
].flat()

const part = oneof(constantFrom(...known), string())
const anyCursor = tuple(
  constantFrom('deposits', 'mismatches', 'statement', 'balances', 'trial-balance'),
  array(part, { maxLength: 7 }),
).map(([list, key]) => writeCursor(list, key))

/** A client that has read one can make one. */
const statementCursor = tuple(part, part, constantFrom('1', '2', '3'), part, part, part).map((key) =>
  writeCursor('statement', key),
)

const value = oneof(constantFrom(...known), string({ unit: 'binary' }), anyCursor, statementCursor)
const names = [...new Set(readRoutes.flatMap(({ query }) => Object.keys(query.shape)))]
const name = oneof({ weight: 9, arbitrary: constantFrom(...names) }, { weight: 1, arbitrary: string() })
const fields = { text: value, to: value, until: value, reason: value }
const fine = constantFrom({ text: 'a' }, { to: null }, { until: null }, { until: 'changed' }, { reason: 'a' })
const body = oneof(fine, record(fields, { requiredKeys: [] }), jsonValue())
const key = oneof(string({ minLength: 1, maxLength: 3 }), constantFrom('k', '', 'a b', 'x'.repeat(201)))
const call = record({
  route: constantFrom(...readRoutes),
  id: oneof(value, constantFrom('1', '3')),
  parameters: oneof(constant([]), array(tuple(name, value), { maxLength: 4 })),
  body,
  key: key.filter((text) => /^[ -\xff]*$/.test(text)),
})

const runs = Number(process.env.RUNS ?? 250)

test('no parameter and no body of any call leads to an internal error', { timeout: 300_000 }, async () => {
  const statuses = new Set<number>()
  const property = asyncProperty(call, async ({ route: { path, method }, id, parameters, ...sent }) => {
    const encoded = encodeURIComponent(id.toWellFormed())
    // An empty segment, or one of dots, is another path.
    const named = path.replace('{id}', /^\.{0,2}$/.test(encoded) ? '1' : encoded)
    const query = new URLSearchParams(parameters).toString()
    const target = query === '' ? named : `${named}?${query}`
    const headers = { 'idempotency-key': sent.key }
    const { status } = await (method === 'get' ? api.get(target) : api.post(target, sent.body, { headers }))
    statuses.add(status)
    return status < 500
  })
  await assert(property, { numRuns: runs })
  // Rarer answers do not come in each run.
  expect([...statuses]).toEqual(expect.arrayContaining([200, 400, 404]))
})

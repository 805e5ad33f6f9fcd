import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { transfersPath } from '../../src/intake/server.ts'
import { deliver, memoryWriter, signed, startTestIntake, type TestIntake } from '../support/intake.ts'

const inbox = memoryWriter()
let intake: TestIntake
beforeAll(async () => {
  intake = await startTestIntake({ write: inbox.write, limits: { bodyBytesMax: 100_000 } })
})
afterAll(() => intake.stop())
beforeEach(() => {
  inbox.rows.clear()
  intake.observed.length = 0
  intake.quarantined.length = 0
})

const answerOf = async (response: Response) => ({
  status: response.status,
  ...((await response.json()) as object),
})

test('a signed webhook is stored as it came, credentials hashed, and then the wake-up is asked for', async () => {
  const body = '{ "amount": 1.10,  "a":"é" }'
  const wakesBefore = intake.wakes()
  const response = await deliver(intake, {
    id: 'msg_1',
    body,
    headers: { 'user-agent': 'sender/1', 'x-api-key': 'k' },
  })
  expect(await answerOf(response)).toEqual({ status: 'stored' })
  expect(response.status).toBe(202)
  const kept = inbox.rows.get('msg_1')
  expect(kept).toMatchObject({ source: 'webhook', sourceKey: 'msg_1', body: Buffer.from(body) })
  expect(kept?.headers).toEqual({
    'content-type': 'application/json',
    'user-agent': 'sender/1',
    'webhook-id': 'msg_1',
    'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
    'webhook-signature': expect.stringMatching(/^v1,/),
    'x-api-key': `sha256:${createHash('sha256').update('k').digest('hex')}`,
    'verified-by': 'standard-webhooks',
  })
  expect(intake.wakes() - wakesBefore).toBe(1)
  expect(intake.observed).toEqual([
    { service: 'default', outcome: 'stored', event: 'msg_1', seconds: expect.any(Number) },
  ])
})

test('the answer tells nothing of what serves it', async () => {
  const { headers } = await deliver(intake, { id: 'msg_1' })
  expect([...headers.keys()].toSorted()).toEqual([
    'cache-control',
    'connection',
    'content-length',
    'content-type',
    'date',
    'keep-alive',
    'x-content-type-options',
  ])
})

test('a resend is a duplicate and wakes nobody', async () => {
  await deliver(intake, { id: 'msg_1' })
  const wakesBefore = intake.wakes()
  const again = await deliver(intake, { id: 'msg_1' })
  expect(again.status).toBe(202)
  expect(await again.json()).toEqual({ status: 'duplicate' })
  expect(intake.wakes()).toBe(wakesBefore)
})

test('of twenty identical deliveries at once exactly one is stored', async () => {
  const responses = await Promise.all(Array.from({ length: 20 }, () => deliver(intake, { id: 'race' })))
  expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(202))
  const outcomes = intake.observed.map(({ outcome }) => outcome)
  expect(outcomes.filter((outcome) => outcome === 'stored')).toHaveLength(1)
  expect(outcomes.filter((outcome) => outcome === 'duplicate')).toHaveLength(19)
})

test.each([
  ['a wrong signature', { 'webhook-signature': `v1,${'A'.repeat(43)}=` }, 'bad_signature', 'signature_wrong'],
  ['an old timestamp', { 'webhook-timestamp': '1614265330' }, 'bad_timestamp', 'timestamp_too_old'],
])('%s is answered 401', async (...[, headers, code, reason]) => {
  const response = await deliver(intake, { id: 'msg_1', headers })
  expect(await answerOf(response)).toEqual({ status: 401, code })
  expect(intake.observed).toEqual([
    { service: 'default', outcome: code, reason, seconds: expect.any(Number) },
  ])
  expect(intake.quarantined).toMatchObject([
    { reason, source: '127.0.0.1', body: Buffer.from('{"event":"x"}') },
  ])
})

test('what is verified and no JSON is quarantined: whoever sent it is genuine', async () => {
  await deliver(intake, { id: 'msg_1', body: 'no JSON' })
  expect(intake.quarantined).toMatchObject([{ reason: 'not_json', body: Buffer.from('no JSON') }])
})

test('what is taken in, and what is larger than a body may be, is not quarantined', async () => {
  await deliver(intake, { id: 'msg_1' })
  await deliver(intake, { id: 'msg_2', body: ' '.repeat(100_001) })
  expect(intake.quarantined).toEqual([])
})

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

test.each([
  ['nothing', ''],
  ['bad UTF-8', Buffer.from([0x22, 0xc3, 0x28, 0x22])],
  ['a depth of 65', nested(65)],
])('a body with %s is answered 400', async (_what, body) => {
  expect(await answerOf(await deliver(intake, { id: 'msg_1', body }))).toEqual({
    status: 400,
    code: 'not_json',
  })
})

test.each([
  ['an escaped NUL', String.raw`{"a":"\u0000"}`],
  ['numbers beyond a double', '{"a":1e400,"b":9007199254740993}'],
  ['a prototype as key, twice', '{"__proto__":{"a":1},"__proto__":1}'],
])('a body with %s is kept byte for byte', async (_what, body) => {
  expect((await deliver(intake, { id: 'msg_1', body })).status).toBe(202)
  expect(inbox.rows.get('msg_1')?.body).toEqual(Buffer.from(body))
})

test('a body of the largest size is stored, and one byte more is answered 413', async () => {
  const largest = `"${'x'.repeat(99_998)}"`
  expect((await deliver(intake, { id: 'msg_1', body: largest })).status).toBe(202)
  const response = await deliver(intake, { id: 'msg_2', body: `${largest} ` })
  expect(await answerOf(response)).toEqual({ status: 413, code: 'too_large' })
})

test('a body that does not tell its size is answered 413 where it grows too large', async () => {
  const endless = new ReadableStream({
    start(controller) {
      for (let sent = 0; sent < 30; sent++) controller.enqueue(new Uint8Array(4096))
      controller.close()
    },
  })
  const request = {
    method: 'POST',
    headers: signed('msg_1', Buffer.alloc(0)),
    body: endless,
    duplex: 'half',
  } as const
  const response = await fetch(intake.url + transfersPath, request)
  expect(await answerOf(response)).toEqual({ status: 413, code: 'too_large' })
})

test.each([
  ['text', { 'content-type': 'text/plain' }],
  ['a type that only starts like JSON', { 'content-type': 'application/jsonp' }],
  ['another charset', { 'content-type': 'application/json; charset=utf-16' }],
  ['a packed body', { 'content-encoding': 'gzip' }],
  ['a body packed twice', { 'content-encoding': 'identity, gzip' }],
])('%s is answered 415, and kept in the quarantine as it came', async (_what, headers) => {
  const body = gzipSync('{}')
  const response = await deliver(intake, { id: 'msg_1', body, headers })
  expect(await answerOf(response)).toEqual({ status: 415, code: 'wrong_type' })
  expect(intake.quarantined).toMatchObject([{ reason: 'wrong_type', headers, body }])
})

test.each([
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'application/cloudevents+json',
])('the type %s is JSON', async (type) => {
  const headers = { 'content-type': type, 'content-encoding': 'identity' }
  expect((await deliver(intake, { id: 'msg_1', headers })).status).toBe(202)
})

test.each(['GET', 'HEAD'])('%s is answered 200 for senders that probe', async (method) => {
  expect((await fetch(intake.url + transfersPath, { method })).status).toBe(200)
})

test.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS'])(
  '%s is answered 405 with what is allowed',
  async (method) => {
    const response = await fetch(intake.url + transfersPath, { method })
    expect(await answerOf(response)).toEqual({ status: 405, code: 'method_not_allowed' })
    expect(response.headers.get('allow')).toBe('GET, HEAD, POST')
  },
)

test.each(['/', '/webhooks', '/webhooks/transfers/x', '/%zz'])(
  'the path %s is answered 404',
  async (path) => {
    expect(await answerOf(await fetch(intake.url + path))).toEqual({ status: 404, code: 'not_found' })
  },
)

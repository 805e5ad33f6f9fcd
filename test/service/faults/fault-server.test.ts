import { request } from 'node:http'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type FaultServer, startFaultServer } from '../../../src/service/faults/fault-server.ts'
import { faultKnobs } from '../../../src/service/faults/fault-table.ts'
import { createFaults, type Faults } from '../../../src/service/faults/faults.ts'

const initial = { seed: 'a', dropWebhookRate: 0.5 }
let faults: Faults
let server: FaultServer

beforeAll(async () => {
  faults = createFaults(initial)
  server = await startFaultServer({ faults, port: 0, log: pino({ level: 'silent' }) })
})
beforeEach(() => faults.set({ ...createFaults(initial).current() }))
afterAll(() => server.stop())

type Shown = { settings: Record<string, unknown>; knobs: Record<string, unknown>[] }

async function send(method: string, body: unknown, type = 'application/json') {
  const response = await fetch(server.url, {
    method,
    headers: { 'content-type': type },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Shown & { detail?: string } }
}

/** With headers that fetch does not let a program set. */
function get(headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(server.url, { headers }, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end()
  })
}

test('every knob is shown with its rate, what it does and what depositd makes of it', async () => {
  const { settings, knobs } = (await (await fetch(server.url)).json()) as Shown
  expect(settings).toEqual(faults.current())
  expect(knobs.map(({ name }) => name)).toEqual(faultKnobs)
  expect(knobs[0]).toEqual({
    name: 'dropWebhookRate',
    rate: 0.5,
    scope: 'deposits',
    does: 'sends no webhooks of a deposit, although the delivery log shows them as delivered',
    mismatch: 'webhook_missing',
    ends: 'resend',
  })
})

test('PATCH turns what it names', async () => {
  const { status, body } = await send('PATCH', { hideRecordRate: 1, delayMs: 5 })
  expect(status).toBe(200)
  expect(body.settings).toEqual(faults.current())
  expect(faults.current()).toMatchObject({ dropWebhookRate: 0.5, hideRecordRate: 1, delayMs: 5, seed: 'a' })
})

test('PUT sets all: what it does not name strikes nothing, and the seed stays', async () => {
  faults.set({ delayMs: 5 })
  expect((await send('PUT', { hideRecordRate: 1 })).status).toBe(200)
  expect(faults.current()).toEqual(createFaults({ seed: 'a', hideRecordRate: 1 }).current())
})

test.each<[string, string, unknown, number, RegExp]>([
  ['a rate above one', 'PATCH', { hideRecordRate: 2, seed: '' }, 400, /hideRecordRate.*seed/],
  ['a name that is none', 'PUT', { hideRate: 1 }, 400, /hideRate is not a fault setting/],
  ['a list', 'PATCH', [], 400, /JSON object/],
  ['no JSON', 'PATCH', '{', 400, /JSON|position/],
  ['another method', 'POST', {}, 405, /PATCH/],
])('%s is refused, and nothing is turned', async (...[, method, body, status, detail]) => {
  const answer = await send(method, body)
  expect(answer.status).toBe(status)
  expect(answer.body.detail).toMatch(detail)
  expect(faults.current()).toEqual(createFaults(initial).current())
})

test('a body that is not said to be JSON is refused: browsers send such across sites unasked', async () => {
  expect((await send('PATCH', { hideRecordRate: 1 }, 'text/plain')).status).toBe(415)
})

test.each([
  ['another name of this machine', { host: 'rebound.example' }, 403],
  ['a page of another site', { origin: 'https://site.example' }, 403],
  ['a page that does not tell its origin', { origin: 'null' }, 403],
  ['a link on another site', { 'sec-fetch-site': 'cross-site' }, 403],
  ['localhost', { host: 'localhost' }, 200],
])('%s: %j is answered %d', async (_who, headers, status) => {
  expect(await get(headers)).toBe(status)
})

test('there is nothing beside the knobs', async () => {
  expect((await fetch(server.url.replace('/faults', '/v1/channels'))).status).toBe(404)
})

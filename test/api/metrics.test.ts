import { afterAll, beforeAll, expect, test } from 'vitest'
import { readRoutes } from '../../src/api/routes.ts'
import { callOf } from '../../src/api/server.ts'
import { openReadBooks, type ReadClient, serveReadApi } from '../support/read-api.ts'

const stack = new AsyncDisposableStack()
let api: ReadClient

beforeAll(async () => {
  const books = stack.use(await openReadBooks())
  api = await serveReadApi(books, stack, { limit: { perSecond: 0.001, burst: 3 } })
})
afterAll(() => stack.disposeAsync())

/** Not zero. */
async function counted(): Promise<Record<string, number>> {
  const series = await api.metrics.apiRequests.read()
  const seen = series.filter(({ value }) => value > 0)
  return Object.fromEntries(seen.map(({ labels, value }) => [`${labels.call} ${labels.status}`, value]))
}

test('requests are counted by call and answer, and timed unless they wait', async () => {
  const series = await api.metrics.apiRequests.read()
  expect(new Set(series.map(({ labels }) => labels.call))).toEqual(new Set(readRoutes.map(callOf)))
  const token = await api.token()
  const first = await api.get('/v1/deposits/1', token)
  const known = { headers: { 'if-none-match': first.headers.get('etag') ?? '' } }
  await api.get('/v1/deposits/1', token, known)
  await api.get('/v1/nothing', token)
  await api.get('/v1/deposits/1', token)
  await api.get('/v1/deposits/2?wait=1s&credit=safe')
  await api.get('/v1/services', null)
  expect(await counted()).toEqual({
    'GET /v1/deposits/{id} 2xx': 2,
    'GET /v1/deposits/{id} 304': 1,
    'GET /v1/deposits/{id} 429': 1,
    'other 4xx': 1,
    'GET /v1/services 4xx': 1,
  })
  const text = await api.metrics.registry.metrics()
  expect(text).toContain('depositd_api_request_seconds_count{call="GET /v1/deposits/{id}"} 3')
})

test('requests that wait are counted until they are answered', { timeout: 30_000 }, async () => {
  const waitingNow = async () => (await api.metrics.apiWaiting.read()).at(0)?.value ?? 0
  const waiting = api.get('/v1/deposits/6?wait=1s', await api.token())
  await expect.poll(waitingNow).toBe(1)
  await waiting
  expect(await waitingNow()).toBe(0)
})

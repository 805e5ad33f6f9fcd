import { expect, test } from 'vitest'
import { unknownKeysLimit } from '../../../src/http/key-check.ts'
import { createApiKey, makeApiKey, revokeApiKey } from '../../../src/service/api-keys.ts'
import { call, readKey, writeKey } from '../fixtures.ts'
import { openApi } from './open-api.ts'

/** More than an address may guess, however slowly they are answered. */
const manyGuesses = 2 * unknownKeysLimit.burst

test('a key that calls too often is told to wait, and another is not held up by it', async () => {
  const api = await openApi({ rateLimit: { perSecond: 0.1, burst: 3 } })
  const list = `${api.url}/v1/proxies/deposits`
  const ask = () => fetch(list, { headers: { 'X-API-KEY': readKey } })
  const [first] = [await ask(), await ask(), await ask()]
  expect(Object.fromEntries([...first.headers].filter(([name]) => name.startsWith('ratelimit')))).toEqual({
    'ratelimit-limit': '3',
    'ratelimit-remaining': '2',
    'ratelimit-reset': '10',
  })
  const refused = await ask()
  expect([refused.status, refused.headers.get('ratelimit-remaining')]).toEqual([429, '0'])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(10)
  expect(await call(list, readKey)).toMatchObject({ status: 429, body: { code: 'rate_limited' } })
  expect(await call(list, writeKey)).toMatchObject({ status: 200 })
  await api.close()
})

test('who tries out keys is not heard any more; a key that was good before is', async () => {
  const api = await openApi()
  const list = `${api.url}/v1/proxies/deposits`
  expect(await call(list, readKey)).toMatchObject({ status: 200 })
  const guesses = Array.from({ length: manyGuesses }, () => call(list, makeApiKey()))
  const codes = (await Promise.all(guesses)).map(({ body }) => body['code'])
  expect(new Set(codes)).toEqual(new Set(['key_unknown', 'rate_limited']))
  expect(codes.filter((code) => code === 'key_unknown').length).toBeLessThan(manyGuesses)
  // One more guess comes due each second, and is taken before a key that was not used yet can have it.
  const statusOfFresh = async () => {
    const { key } = await createApiKey(api.db, { name: 'not used yet', scope: 'read' })
    await call(list, makeApiKey())
    return (await call(list, key)).status
  }
  await expect.poll(statusOfFresh).toBe(429)
  expect(await call(list, readKey)).toMatchObject({ status: 200 })
  await api.close()
})

test('good keys take nothing from what an address may guess, and a revoked one is a guess again', async () => {
  const api = await openApi()
  const list = `${api.url}/v1/proxies/deposits`
  for (let number = 0; number < unknownKeysLimit.burst + 10; number++) {
    const { key } = await createApiKey(api.db, { name: 'one of many', scope: 'read' })
    expect(await call(list, key)).toMatchObject({ status: 200 })
  }
  const { id, key } = await createApiKey(api.db, { name: 'gone', scope: 'read' })
  await call(list, key)
  await revokeApiKey(api.db, id)
  // Until the first is refused, those that come beside it have a key that was good before.
  expect(await call(list, key)).toMatchObject({ status: 401 })
  const calls = Array.from({ length: manyGuesses }, () => call(list, key))
  const statuses = (await Promise.all(calls)).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([401, 429]))
  await api.close()
})

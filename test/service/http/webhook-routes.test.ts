import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeSecret } from '../../../src/outbox/signing-key.ts'
import { endpointsMax } from '../../../src/service/webhooks/endpoints.ts'
import type { TakenWebhook } from '../webhook-receiver.ts'
import { type Calls, openCalls, root } from '../webhooks/calls.ts'
import { type Office, openOffice } from '../webhooks/office.ts'

let office: Office
let calls: Calls

beforeAll(async () => {
  office = await openOffice()
  calls = openCalls(office)
})

afterAll(() => office.close())

function hmac(secret: unknown, { headers, body }: TakenWebhook): string {
  const key = Buffer.from(String(secret).slice('whsec_'.length), 'base64')
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}

test('an endpoint is registered, shown without its secret, listed and deleted', async () => {
  const created = await calls.post(root, { url: 'http://127.0.0.1:1/hook', types: ['deposit.settled'] })
  expect(created).toMatchObject({
    status: 201,
    body: {
      id: expect.stringMatching(/^wep_[0-9a-f]{24}$/),
      url: 'http://127.0.0.1:1/hook',
      types: ['deposit.settled'],
      status: 'active',
      disabled_because: null,
      configured: false,
      keys: [{ scheme: 'v1', public_key: null, expires_at: null }],
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    },
  })
  const { secret: _, ...shown } = created.body
  const id = String(created.body['id'])
  expect((await calls.get(`${root}/${id}`)).body).toEqual(shown)
  expect((await calls.get(root)).body['data']).toEqual([shown])
  expect(await calls.remove(id)).toBe(204)
  expect(await calls.remove(id), 'the same call again').toBe(204)
  expect((await calls.get(root)).body['data']).toEqual([])
  expect((await calls.get(`${root}/${id}`)).body).toMatchObject({ status: 'deleted', keys: [] })
})

test('an ed25519 endpoint shows its public key at any time, and the secret once', async () => {
  const { endpoint, id } = await calls.register({ scheme: 'v1a' })
  expect(endpoint['secret']).toMatch(/^whsk_/)
  const { body } = await calls.get(`${root}/${id}`)
  expect(body).toMatchObject({ keys: [{ scheme: 'v1a', public_key: expect.stringMatching(/^whpk_/) }] })
  expect(JSON.stringify(body)).not.toContain('whsk_')
  await calls.remove(id)
})

test.each([
  [{ url: 'ftp://shop.example/hook' }, 'request_invalid'],
  [{ url: 'shop.example/hook' }, 'request_invalid'],
  [{ url: 'http://name:password@shop.example/hook' }, 'request_invalid'],
  [{ url: 'http://shop.example/hook#part' }, 'request_invalid'],
  [{ url: `http://shop.example/${'a'.repeat(2000)}` }, 'request_invalid'],
  [{ url: 'http://shop.example', types: [] }, 'request_invalid'],
  [{ url: 'http://shop.example', types: ['deposit.lost'] }, 'request_invalid'],
  [{ url: 'http://shop.example', secret: 'whsec_short' }, 'request_invalid'],
  [{ url: 'http://shop.example', scheme: 'v2' }, 'request_invalid'],
  [{ url: 'http://shop.example', secret: makeSecret('v1'), scheme: 'v1a' }, 'fields_contradict'],
  [{ url: 'http://shop.example', description: 'a' }, 'request_invalid'],
])('%j is refused', async (body, code) => {
  expect(await calls.post(root, body)).toMatchObject({ status: 400, body: { code } })
})

test('a refusal does not repeat the secret', async () => {
  const { body } = await calls.post(root, { url: 'http://shop.example', secret: 'whsec_not-for-the-log' })
  expect(JSON.stringify(body)).not.toContain('not-for-the-log')
})

test('an address is registered once, in whatever spelling, also by twenty at once', async () => {
  const urls = Array.from({ length: 20 }, (_, place) =>
    place % 2 === 0 ? 'http://shop.example/a' : 'HTTP://shop.example:80/b/../a',
  )
  const answers = await Promise.all(urls.map((url) => calls.post(root, { url })))
  const created = answers.filter(({ status }) => status === 201)
  expect(created).toHaveLength(1)
  expect(answers.filter(({ body }) => body['code'] === 'url_taken')).toHaveLength(19)
  await calls.remove(created[0]?.body['id'])
  expect((await calls.post(root, { url: 'http://shop.example/a' })).status, 'deleted ones do not count').toBe(
    201,
  )
})

test('there are at most so many endpoints', async () => {
  const answers = await Promise.all(
    Array.from({ length: endpointsMax + 1 }, (_, place) =>
      calls.post(root, { url: `http://many.example/${place}` }),
    ),
  )
  const refused = answers.filter(({ status }) => status !== 201)
  expect(refused.length).toBeGreaterThan(0)
  for (const { body } of refused) expect(body['code']).toBe('limit_reached')
  const pages = [await calls.get(`${root}?limit=30`)]
  pages.push(await calls.get(`${root}?limit=30&cursor=${String(pages[0]?.body['next_cursor'])}`))
  const ids = pages.flatMap(({ body }) => (body['data'] as { id: string }[]).map(({ id }) => id))
  expect(new Set(ids).size).toBe(endpointsMax)
  await Promise.all(ids.map((id) => calls.remove(id)))
})

test('a rotated secret signs first, and the old one beside it until the overlap is over', async () => {
  const { receiver, endpoint, id } = await calls.register()
  const rotated = await calls.post(`${root}/${id}/rotate-secret`, { overlap_seconds: 3600 })
  expect(rotated.body['secret']).not.toBe(endpoint['secret'])
  const given = makeSecret('v1')
  const again = await calls.post(`${root}/${id}/rotate-secret`, { secret: given })
  expect(again.body).toMatchObject({ secret: given, keys: [{ expires_at: null }, {}, {}] })
  const signatures = async () => {
    await office.happen()
    await office.deliver()
    const [taken] = receiver.taken()
    if (taken === undefined) throw new Error('nothing came')
    const known = [given, rotated.body['secret'], endpoint['secret']].map((secret) => hmac(secret, taken))
    return String(taken.headers['webhook-signature'])
      .split(' ')
      .map((signature) => known.indexOf(signature))
  }
  expect(await signatures()).toEqual([0, 1, 2])
  office.advance(3601)
  expect(await signatures(), 'the first overlap is not made longer by the second').toEqual([0, 1])
  office.advance(86_400)
  expect(await signatures()).toEqual([0])
  await calls.post(`${root}/${id}/rotate-secret`, { overlap_seconds: 0 })
  expect((await calls.get(`${root}/${id}`)).body['keys'], 'at once').toHaveLength(1)
  for (let turn = 0; turn < 8; turn++) await calls.post(`${root}/${id}/rotate-secret`, {})
  expect((await calls.get(`${root}/${id}`)).body['keys'], 'at most five').toHaveLength(5)
  await calls.remove(id)
})

test('twenty rotations at once are twenty, and the newest five sign', async () => {
  const { endpoint, id } = await calls.register()
  const rotations = Array.from({ length: 20 }, () => calls.post(`${root}/${id}/rotate-secret`, {}))
  const answers = await Promise.all(rotations)
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  const secrets = new Set([endpoint['secret'], ...answers.map(({ body }) => body['secret'])])
  expect(secrets.size).toBe(21)
  const { body } = await calls.get(`${root}/${id}`)
  expect(body['keys']).toHaveLength(5)
  await calls.remove(id)
})

test('a disabled endpoint is sent nothing until it is enabled, and then what happens from then on', async () => {
  const { receiver, id } = await calls.register()
  expect((await calls.order(`${root}/${id}/disable`)).body).toMatchObject({
    status: 'disabled',
    disabled_because: 'requested',
  })
  await office.happen()
  expect((await calls.order(`${root}/${id}/test`)).body).toMatchObject({ code: 'endpoint_inactive' })
  expect((await calls.order(`${root}/${id}/enable`)).body).toMatchObject({
    status: 'active',
    disabled_because: null,
  })
  await office.happen()
  await office.deliver()
  expect(receiver.taken()).toHaveLength(1)
  await calls.remove(id)
  const after = [await calls.post(`${root}/${id}/rotate-secret`, {})]
  for (const operation of ['enable', 'disable', 'test'])
    after.push(await calls.order(`${root}/${id}/${operation}`))
  for (const { body } of after) expect(body).toMatchObject({ code: 'endpoint_inactive' })
})

test('an endpoint that nobody registered is not found, by any call', async () => {
  const path = `${root}/wep_unknown`
  const answers = await Promise.all([
    calls.get(path),
    calls.get(`${path}/deliveries`),
    ...['test', 'enable', 'disable'].map((operation) => calls.order(`${path}/${operation}`)),
    calls.post(`${path}/rotate-secret`, {}),
  ])
  for (const answer of answers) expect(answer).toMatchObject({ status: 404, body: { code: 'not_found' } })
  expect(await calls.remove('wep_unknown')).toBe(404)
})

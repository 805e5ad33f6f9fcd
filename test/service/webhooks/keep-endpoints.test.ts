import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeSecret } from '../../../src/outbox/signing-key.ts'
import { applyEndpoints, registerEndpoint } from '../../../src/service/webhooks/endpoints.ts'
import { openSecret, signingSecrets } from '../../../src/service/webhooks/secrets.ts'
import { call, writeKey } from '../fixtures.ts'
import { openCalls, root } from './calls.ts'
import { type Office, openOffice } from './office.ts'

const url = 'http://127.0.0.1:1/hook'
const secret = makeSecret('v1')

let office: Office

beforeAll(async () => {
  office = await openOffice()
})

afterAll(() => office.close())

function keep(...webhooks: { url: string; secret: string }[]): Promise<void> {
  const { book, vault, now } = office
  return applyEndpoints({ db: book.db, vault, now }, webhooks)
}

function endpoints() {
  return office.book.db.selectFrom('service.webhook_endpoint').selectAll().orderBy('sequence').execute()
}

/** The secrets that sign, the newest first. */
async function secretsOf(id: string): Promise<string[]> {
  const rows = await signingSecrets(office.book.db, [id], office.now())
  return rows.map((row) => openSecret(office.vault, row))
}

async function onlyEndpoint() {
  const live = (await endpoints()).filter(({ status }) => status !== 'deleted')
  expect(live).toHaveLength(1)
  const [endpoint] = live
  if (endpoint === undefined) throw new Error('there is one')
  return endpoint
}

test('an endpoint of the settings is made once, also by twenty starts at once', async () => {
  // The first round opens the connections, so that the later ones really meet.
  for (let round = 0; round < 3; round++) {
    await keep()
    await Promise.all(Array.from({ length: 20 }, () => keep({ url, secret })))
  }
  await keep({ url, secret })
  const endpoint = await onlyEndpoint()
  expect(endpoint).toMatchObject({ url, configured: true, status: 'active', types: null })
  expect(await secretsOf(endpoint.id)).toEqual([secret])
})

test('another secret in the settings is a rotation, back and forth', async () => {
  const { id } = await onlyEndpoint()
  const other = makeSecret('v1a')
  await keep({ url, secret: other })
  expect(await secretsOf(id)).toEqual([other, secret])
  await keep({ url, secret })
  expect(await secretsOf(id)).toEqual([secret, other, secret])
  office.advance(86_401)
  expect(await secretsOf(id)).toEqual([secret])
})

test('an endpoint of the settings is not deleted or rotated by a call', async () => {
  const { id } = await onlyEndpoint()
  const calls = openCalls(office)
  expect(await calls.remove(id)).toBe(409)
  const refused = await call(`${office.book.url}${root}/${id}/rotate-secret`, writeKey, {})
  expect(refused).toMatchObject({ status: 409, body: { code: 'endpoint_configured' } })
  expect((await onlyEndpoint()).id).toBe(id)
})

test('one that was disabled is enabled by the next start', async () => {
  const { id } = await onlyEndpoint()
  await openCalls(office).order(`${root}/${id}/disable`)
  await keep({ url, secret })
  expect(await onlyEndpoint()).toMatchObject({ id, status: 'active', disabled_because: null })
})

test('one that is gone from the settings is deleted, and may come back as another', async () => {
  const { id } = await onlyEndpoint()
  await keep()
  expect((await endpoints()).at(-1)).toMatchObject({ id, status: 'deleted' })
  expect(await secretsOf(id)).toEqual([])
  await keep({ url, secret })
  expect((await onlyEndpoint()).id).not.toBe(id)
  await keep()
})

test('one that was registered by a call is taken over by the settings that name it', async () => {
  const { book, vault } = office
  const own = makeSecret('v1')
  const wanted = { url, types: ['deposit.settled'], secret: own, configured: false }
  await registerEndpoint({ db: book.db, vault }, wanted)
  const { id } = await onlyEndpoint()
  await keep()
  expect((await onlyEndpoint()).id, 'the settings are no truth about others').toBe(id)
  await keep({ url: 'HTTP://127.0.0.1:1/./hook', secret })
  expect(await onlyEndpoint()).toMatchObject({ id, configured: true, types: null })
  expect(await secretsOf(id)).toEqual([secret, own])
})

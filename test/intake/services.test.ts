import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultService, type ServiceName } from '../../src/core/evidence.ts'
import type { AdmissionDeps } from '../../src/intake/admit-delivery.ts'
import {
  memoryWriter,
  signed,
  signedByStandard,
  startTestIntake,
  type TestIntake,
} from '../support/intake.ts'
import { signStandardWebhook, standardWebhooks } from '../support/sign-webhook.ts'

const acme = 'acme' as ServiceName
const acmeSecret = 'whsec_c2VjcmV0IG9mIGFjbWUsIG5vdCBvdXJz'
const ofAcme: AdmissionDeps = { ...signedByStandard, service: acme, verify: standardWebhooks(acmeSecret) }
const services = new Map<ServiceName, AdmissionDeps>([
  [defaultService, signedByStandard],
  [acme, ofAcme],
])
const body = Buffer.from('{"id":"evt_1"}')

const inbox = memoryWriter()
let intake: TestIntake
beforeEach(async () => {
  inbox.rows.clear()
  intake = await startTestIntake({ write: inbox.write, admissionOf: (name) => services.get(name) })
})
afterEach(() => intake.stop())

const byAcme = () => ({
  'content-type': 'application/json',
  ...signStandardWebhook({ secret: acmeSecret, id: 'evt_1', body, at: new Date() }),
})

async function post(path: string, headers: Record<string, string>): Promise<number> {
  const response = await fetch(intake.url + path, { method: 'POST', headers, body })
  return response.status
}

test('each service has a path of its own, and equal event ids of two services are two', async () => {
  expect(await post('/webhooks/transfers', signed('evt_1', body))).toBe(202)
  expect(await post('/webhooks/acme/transfers', byAcme())).toBe(202)
  expect([...inbox.rows.values()].map(({ service, sourceKey }) => [service, sourceKey])).toEqual([
    ['default', 'evt_1'],
    ['acme', 'acme/evt_1'],
  ])
})

test('a secret counts at the path of its service only', async () => {
  expect(await post('/webhooks/acme/transfers', signed('evt_1', body))).toBe(401)
  expect(await post('/webhooks/transfers', byAcme())).toBe(401)
  expect(intake.quarantined.map(({ service }) => service)).toEqual(['acme', 'default'])
  expect(inbox.rows.size).toBe(0)
})

test.each(['other', 'Acme', 'acme%2F', '..', 'constructor'])('no service %j has a path', async (name) => {
  expect(await post(`/webhooks/${name}/transfers`, byAcme())).toBe(404)
  expect((await fetch(`${intake.url}/webhooks/${name}/transfers`)).status).toBe(404)
})

test('a sender may probe the path of each service', async () => {
  expect((await fetch(`${intake.url}/webhooks/acme/transfers`)).status).toBe(200)
  expect((await fetch(`${intake.url}/webhooks/acme/transfers`, { method: 'PUT' })).status).toBe(405)
})

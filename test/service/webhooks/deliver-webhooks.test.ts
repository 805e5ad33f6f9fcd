import { createHmac } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DepositRecord } from '../../../src/service/deposits/record.ts'
import { createFaults, type Faults } from '../../../src/service/faults/faults.ts'
import { deliverWebhooks } from '../../../src/service/webhooks/deliver-webhooks.ts'
import { until } from '../../support/until.ts'
import { type Book, openBook } from '../book.ts'
import { startReceiver, type WebhookReceiver } from '../webhook-receiver.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const quiet = createFaults({ seed: 'test', dropWebhookRate: 0, shortForwardRate: 0 })

let receiver: WebhookReceiver
let book: Book

beforeAll(async () => {
  receiver = await startReceiver()
  book = await openBook([receiver.url])
})

afterAll(async () => {
  await book.close()
  await receiver.stop()
})

function deliver(faults: Faults, stopping = new AbortController().signal): Promise<boolean> {
  return deliverWebhooks({ db: book.db, endpoints: [{ url: receiver.url, secret }], faults }, stopping)
}

test('webhooks are sent until they are answered with 2xx, signed over the very bytes', async () => {
  await book.record([book.payment(1, false)], 0n)
  await book.record([book.payment(1, true)], 1n)
  receiver.answerWith(503)
  await deliver(quiet)
  expect(receiver.taken()).toHaveLength(2)
  await deliver(quiet)
  expect(receiver.taken(), 'not before the pause is over').toHaveLength(0)
  receiver.answerWith(204)
  await sql`update service.delivery set next_at = now()`.execute(book.db)
  await deliver(quiet)
  const taken = receiver.taken()
  const events = taken.map(
    ({ body }) => JSON.parse(body) as { id: string; type: string; data: DepositRecord },
  )
  expect(events.map(({ type }) => type).toSorted()).toEqual(['deposit.confirmed', 'deposit.detected'])
  for (const { headers, body } of taken) {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp } = headers
    const key = Buffer.from(secret.slice(6), 'base64')
    const expected = createHmac('sha256', key)
      .update(`${String(id)}.${String(timestamp)}.${body}`)
      .digest('base64')
    expect(headers['webhook-signature']).toBe(`v1,${expected}`)
    expect(headers['content-type']).toBe('application/json')
    expect(id).toBe((JSON.parse(body) as { id: string }).id)
  }
  const detected = events.find(({ type }) => type === 'deposit.detected')
  expect(detected?.data.status, 'the record as it was at that state').toBe('detected')
  const { rows } = await sql`select from service.delivery where delivered_at is null`.execute(book.db)
  expect(rows).toHaveLength(0)
})

test('a stop does not wait for an endpoint that does not answer; the webhook is sent again later', async () => {
  await book.record([book.payment(3, false)], 1n)
  receiver.answerWith(null)
  const stopping = new AbortController()
  const delivering = deliver(quiet, stopping.signal)
  await until('the request', () => (receiver.taken().length > 0 ? true : null))
  stopping.abort()
  await delivering
  receiver.answerWith(204)
  await sql`update service.delivery set next_at = now() where delivered_at is null`.execute(book.db)
  await deliver(quiet)
  expect(receiver.taken()).toHaveLength(1)
})

test('a dropped webhook is never sent, though the delivery log says so', async () => {
  await book.record([book.payment(2, false)], 1n)
  const faults = createFaults({ seed: 'test', dropWebhookRate: 1 })
  await deliver(faults)
  expect(receiver.taken()).toHaveLength(0)
  const { rows } = await sql`select from service.delivery where delivered_at is null`.execute(book.db)
  expect(rows).toHaveLength(0)
})

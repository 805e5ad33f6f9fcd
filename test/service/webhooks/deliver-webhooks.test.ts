import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Poster } from '../../../src/outbox/post-webhook.ts'
import type { DepositRecord } from '../../../src/service/deposits/record.ts'
import { findEndpoint } from '../../../src/service/webhooks/endpoints.ts'
import { until } from '../../support/until.ts'
import type { TakenWebhook } from '../webhook-receiver.ts'
import { type Office, openOffice } from './office.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

let office: Office

beforeAll(async () => {
  office = await openOffice()
})

afterAll(() => office.close())

function bytes(taken: readonly TakenWebhook[]): string[] {
  return taken.map(({ body }) => body).toSorted()
}

function types(taken: readonly TakenWebhook[]): string[] {
  return taken.map(({ body }) => (JSON.parse(body) as { type: string }).type)
}

test('webhooks are sent until they are answered with 2xx, signed over the very bytes', async () => {
  const receiver = await office.receiver({ secret })
  const payment = office.payment()
  await office.book.record([payment], 0n)
  await office.book.record([{ ...payment, final: true }], 0n)
  receiver.answerWith(503, { 'retry-after': '600' })
  await office.deliver()
  const first = receiver.taken()
  expect(first).toHaveLength(2)
  await office.deliver()
  expect(receiver.taken(), 'not before the pause is over').toHaveLength(0)
  receiver.answerWith(204)
  office.advance(601)
  await office.deliver()
  const second = receiver.taken()
  expect(bytes(second), 'the same bytes').toEqual(bytes(first))
  const events = second.map(({ body }) => JSON.parse(body) as { type: string; data: DepositRecord })
  expect(events.map(({ type }) => type).toSorted()).toEqual(['deposit.confirmed', 'deposit.detected'])
  const detected = events.find(({ type }) => type === 'deposit.detected')
  expect(detected?.data.status, 'the record as it was at that state').toBe('detected')
  for (const { headers, body } of second) {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp } = headers
    const key = Buffer.from(secret.slice(6), 'base64')
    const content = `${String(id)}.${String(timestamp)}.${body}`
    expect(headers['webhook-signature']).toBe(
      `v1,${createHmac('sha256', key).update(content).digest('base64')}`,
    )
    expect(headers['content-type']).toBe('application/json')
    expect(id).toBe((JSON.parse(body) as { id: string }).id)
    expect(Math.abs(Number(timestamp) * 1000 - office.now().getTime())).toBeLessThan(60_000)
  }
  expect(await office.deliveriesOf(receiver)).toMatchObject([
    { status: 'delivered', attempts: 2, next_at: null },
    { status: 'delivered', attempts: 2, next_at: null },
  ])
  await office.remove(receiver)
})

test('every attempt is in the delivery log, with what was answered or why nothing was', async () => {
  const receiver = await office.receiver()
  await office.happen()
  receiver.answerWith(500, {}, `out of order ${secret}\u0000\u0007`)
  await office.deliver()
  office.advance(2)
  await receiver.stop()
  await office.deliver()
  expect(await office.attemptsOf(receiver)).toMatchObject([
    { number: 1, status_code: 500, problem: null, answer: 'out of order (secret)' },
    { number: 2, status_code: null, problem: 'connection_refused', answer: null },
  ])
  await office.remove(receiver)
})

test('an attempt whose process is gone is made again after its lease, with the same bytes', async () => {
  const receiver = await office.receiver()
  await office.happen()
  const bodies: string[] = []
  const post: Poster['post'] = ({ body }) => {
    bodies.push(body)
    return new Promise<never>(() => undefined)
  }
  await office.courier({ poster: { post, close: () => undefined } }).turn(new AbortController().signal)
  await until('the first attempt', () => (bodies.length > 0 ? true : null))
  expect(await office.attemptsOf(receiver)).toMatchObject([
    { number: 1, duration_ms: null, status_code: null, problem: null },
  ])
  await office.deliver()
  expect(receiver.taken(), 'it may still be under way').toEqual([])
  office.advance(46)
  await office.deliver()
  expect(receiver.taken().map(({ body }) => body)).toEqual(bodies)
  expect(await office.deliveriesOf(receiver)).toMatchObject([{ status: 'delivered', attempts: 2 }])
  await office.remove(receiver)
})

test('after three days of failure a delivery has failed, and is kept', async () => {
  const receiver = await office.receiver()
  await office.happen()
  receiver.answerWith(500)
  for (let turn = 0; turn < 20; turn++) {
    await office.deliver()
    office.advance(25 * 3600)
  }
  expect(receiver.taken()).toHaveLength(14)
  const [delivery] = await office.deliveriesOf(receiver)
  expect(delivery).toMatchObject({ status: 'failed', attempts: 14, next_at: null })
  expect(await office.attemptsOf(receiver)).toHaveLength(14)
  await office.remove(receiver)
})

test('a receiver that asks for a pause gets it, for everything', async () => {
  const receiver = await office.receiver()
  receiver.answerWith(429, { 'retry-after': '120' })
  await office.happen()
  await office.deliver()
  await office.happen()
  office.advance(100)
  await office.deliver()
  expect(receiver.taken()).toHaveLength(1)
  receiver.answerWith(204)
  office.advance(21)
  await office.deliver()
  expect(receiver.taken()).toHaveLength(2)
  await office.remove(receiver)
})

test('410 disables the endpoint: what waits for it ends, and nothing new is sent to it', async () => {
  const [gone, other] = [await office.receiver(), await office.receiver()]
  await office.happen(3)
  gone.answerWith(410)
  await office.deliver()
  expect(await findEndpoint(office.book.db, gone.endpoint.id)).toMatchObject({
    status: 'disabled',
    disabled_because: 'gone',
  })
  await office.happen()
  gone.answerWith(204)
  gone.taken()
  office.advance(3600)
  await office.deliver()
  expect(gone.taken()).toEqual([])
  const statuses = (await office.deliveriesOf(gone)).map(({ status }) => status)
  expect(statuses).toEqual(['cancelled', 'cancelled', 'cancelled'])
  expect(other.taken(), 'another endpoint gets all').toHaveLength(4)
  await Promise.all([office.remove(gone), office.remove(other)])
})

test('deliveries of a deleted endpoint end, and their history stays', async () => {
  const receiver = await office.receiver()
  await office.happen(2)
  receiver.answerWith(500)
  await office.deliver()
  receiver.taken()
  await office.remove(receiver)
  await office.happen()
  office.advance(3600)
  await office.deliver()
  expect(receiver.taken()).toEqual([])
  const deliveries = await office.deliveriesOf(receiver)
  expect(deliveries.map(({ status }) => status)).toEqual(['cancelled', 'cancelled'])
  expect(await office.attemptsOf(receiver)).toHaveLength(2)
})

test('an endpoint gets the types that it asks for, from the time of its registration', async () => {
  await office.happen()
  const [confirmed, all] = [await office.receiver({ types: ['deposit.confirmed'] }), await office.receiver()]
  const payment = office.payment()
  await office.book.record([payment], 0n)
  await office.book.record([{ ...payment, final: true }], 0n)
  await office.deliver()
  expect(types(confirmed.taken())).toEqual(['deposit.confirmed'])
  expect(types(all.taken())).toContain('deposit.detected')
  await Promise.all([office.remove(confirmed), office.remove(all)])
})

test('a stop does not wait for an endpoint that does not answer; the webhook is sent again at once', async () => {
  const receiver = await office.receiver()
  await office.happen()
  receiver.answerWith(null)
  const stopping = new AbortController()
  const delivering = office.deliver(stopping.signal)
  await until('the request', () => (receiver.taken().length > 0 ? true : null))
  stopping.abort()
  await delivering
  receiver.answerWith(204)
  await office.deliver()
  expect(receiver.taken()).toHaveLength(1)
  await office.remove(receiver)
})

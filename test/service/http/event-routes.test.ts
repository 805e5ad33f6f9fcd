import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import { type Answer, call, readKey, writeKey } from '../fixtures.ts'
import type { TakenWebhook } from '../webhook-receiver.ts'
import { openCalls, root } from '../webhooks/calls.ts'
import { type Office, openOffice } from '../webhooks/office.ts'

type Event = { id: string; type: string; data: { id: string; status: string } }
type Delivery = { endpoint_id: string; status: string; attempts: number }

let office: Office

beforeAll(async () => {
  office = await openOffice()
})

afterAll(() => office.close())

function get(path: string): Promise<Answer> {
  return call(`${office.book.url}${path}`, readKey)
}

function resend(id: string, body: object = {}): Promise<Answer> {
  return call(`${office.book.url}/v1/events/${id}/resend`, writeKey, body)
}

async function events(query = ''): Promise<Event[]> {
  return (await get(`/v1/events?${query}`)).body['data'] as Event[]
}

async function newest(): Promise<Event> {
  const [event] = await events('limit=1')
  if (event === undefined) throw new Error('there is no event')
  return event
}

function bodies(taken: readonly TakenWebhook[]): string[] {
  return taken.map(({ body }) => body)
}

test('events are listed as they were sent, newest first, by type and by deposit', async () => {
  const receiver = await office.receiver()
  const payment = office.payment()
  await office.book.record([payment], 0n)
  await office.book.record([{ ...payment, final: true }], 0n)
  await office.happen()
  await office.deliver()
  const listed = await events()
  const sent = bodies(receiver.taken()).map((body) => JSON.parse(body) as unknown)
  expect(listed.toReversed()).toEqual(sent)
  expect(listed.map(({ type }) => type)).toEqual([
    'deposit.detected',
    'deposit.confirmed',
    'deposit.detected',
  ])
  expect(await events('type=deposit.confirmed')).toEqual([listed[1]])
  expect(await events(`deposit=${listed[1]?.data.id}`)).toEqual(listed.slice(1))
  expect((await get('/v1/events?type=deposit.lost')).body).toMatchObject({ code: 'request_invalid' })
  await office.remove(receiver)
})

test('pages of events hold each once, whatever happens meanwhile', async () => {
  await office.happen(20)
  const before = await events('limit=500')
  const read: Event[] = []
  let place: string | null = ''
  while (place !== null) {
    const { body } = await get(`/v1/events?limit=7${place}`)
    read.push(...(body['data'] as Event[]))
    const cursor = body['next_cursor'] as string | null
    place = cursor === null ? null : `&cursor=${cursor}`
    await office.happen()
  }
  expect(read).toEqual(before)
})

test('an event shows its deliveries', async () => {
  const [one, other] = [await office.receiver(), await office.receiver()]
  other.answerWith(500)
  await office.happen()
  await office.deliver()
  const event = await newest()
  const { body } = await get(`/v1/events/${event.id}`)
  const { deliveries, ...shown } = body as { deliveries: Delivery[] }
  expect(shown).toEqual(event)
  expect(deliveries).toHaveLength(2)
  expect(deliveries).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ endpoint_id: one.endpoint.id, status: 'delivered' }),
      expect.objectContaining({ endpoint_id: other.endpoint.id, status: 'pending' }),
    ]),
  )
  await Promise.all([office.remove(one), office.remove(other)])
})

test('a resend sends the same id and bytes again, to one endpoint or to all that want the type', async () => {
  const all = [
    await office.receiver(),
    await office.receiver(),
    await office.receiver({ types: ['deposit.settled'] }),
  ] as const
  const [one, other, choosy] = all
  await office.happen()
  await office.deliver()
  const [first] = one.taken()
  other.taken()
  const { id } = await newest()
  const { body } = await resend(id, { endpoint_id: one.endpoint.id })
  expect(body['deliveries']).toMatchObject([{ endpoint_id: one.endpoint.id, status: 'pending', attempts: 1 }])
  await office.deliver()
  const [again] = one.taken()
  expect(again?.body).toBe(first?.body)
  expect(again?.headers['webhook-id']).toBe(id)
  expect(other.taken()).toEqual([])
  expect((await resend(id)).body['deliveries']).toHaveLength(2)
  await office.deliver()
  expect([one.taken().length, other.taken().length, choosy.taken().length]).toEqual([1, 1, 0])
  await resend(id, { endpoint_id: choosy.endpoint.id })
  await office.deliver()
  expect(choosy.taken(), 'to one that did not want it').toHaveLength(1)
  await Promise.all(all.map((receiver) => office.remove(receiver)))
})

test('twenty resends at once are one delivery', async () => {
  const receiver = await office.receiver()
  const { id } = await newest()
  const answers = await Promise.all(Array.from({ length: 20 }, () => resend(id)))
  expect(answers.every(({ status }) => status === 200)).toBe(true)
  await office.deliver()
  expect(receiver.taken()).toHaveLength(1)
  await office.remove(receiver)
})

test('what has failed for good is sent again from the first try on', async () => {
  const receiver = await office.receiver()
  await office.happen()
  receiver.answerWith(500)
  for (let turn = 0; turn < 15; turn++) {
    await office.deliver()
    office.advance(25 * 3600)
  }
  const { id } = await newest()
  expect(await office.deliveriesOf(receiver)).toMatchObject([{ status: 'failed', attempts: 14 }])
  await resend(id)
  await office.deliver()
  expect(await office.deliveriesOf(receiver)).toMatchObject([{ status: 'pending', attempts: 15, tries: 1 }])
  receiver.answerWith(204)
  office.advance(2)
  await office.deliver()
  expect(await office.deliveriesOf(receiver)).toMatchObject([{ status: 'delivered', attempts: 16 }])
  await office.remove(receiver)
})

test('a resend while an attempt is under way is not taken for done when that one succeeds', async () => {
  const receiver = await office.receiver()
  await office.happen()
  const { id } = await newest()
  await deliverMeanwhile(() => resend(id))
  expect(await office.deliveriesOf(receiver)).toMatchObject([{ status: 'pending', tries: 0 }])
  await office.deliver()
  expect(receiver.taken()).toHaveLength(1)
  await office.remove(receiver)
})

test('nor is the attempt that the resend made, while it is under way', async () => {
  const receiver = await office.receiver()
  await office.happen()
  const { id } = await newest()
  const stopping = new AbortController()
  receiver.answerWith(null)
  let second = Promise.resolve()
  await deliverMeanwhile(async () => {
    await resend(id)
    second = office.deliver(stopping.signal)
    await until('the second attempt', () => (receiver.taken().length > 0 ? true : null))
  })
  expect(await office.deliveriesOf(receiver)).toMatchObject([{ status: 'pending', attempts: 2, tries: 1 }])
  stopping.abort()
  await second
  await office.remove(receiver)
})

/** An attempt that is answered with 200, after something else happened. */
async function deliverMeanwhile(happen: () => Promise<unknown>): Promise<void> {
  const answer = { kind: 'answered', status: 200, text: '', retryAfter: null } as const
  const poster = { post: () => happen().then(() => answer), close: () => undefined }
  const courier = office.courier({ poster })
  await courier.turn(new AbortController().signal)
  await courier.idle()
}

test('a resend to an endpoint that is unknown or not active is refused', async () => {
  const { id } = await newest()
  const receiver = await office.receiver()
  await office.remove(receiver)
  expect(await resend(id, { endpoint_id: 'wep_unknown' })).toMatchObject({ status: 404 })
  expect(await resend(id, { endpoint_id: receiver.endpoint.id })).toMatchObject({
    status: 409,
    body: { code: 'endpoint_inactive' },
  })
  expect((await resend(id)).body, 'to all of none').toEqual({ deliveries: [] })
  expect(await resend('evt_unknown')).toMatchObject({ status: 404, body: { code: 'not_found' } })
  expect(await get('/v1/events/evt_unknown')).toMatchObject({ status: 404, body: { code: 'not_found' } })
})

test('a test event that is resent goes only where it went', async () => {
  const [one, other] = [await office.receiver(), await office.receiver()]
  await openCalls(office).order(`${root}/${one.endpoint.id}/test`)
  await office.deliver()
  const { id } = await newest()
  await resend(id)
  await office.deliver()
  expect([one.taken().length, other.taken().length]).toEqual([2, 0])
  await Promise.all([office.remove(one), office.remove(other)])
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Calls, openCalls, root } from '../webhooks/calls.ts'
import { type Office, openOffice } from '../webhooks/office.ts'

let office: Office
let calls: Calls

beforeAll(async () => {
  office = await openOffice()
  calls = openCalls(office)
})

afterAll(() => office.close())

test('a test event goes to its endpoint alone, whatever types it wants', async () => {
  const [one, other] = [await calls.register({ types: ['deposit.settled'] }), await calls.register()]
  const { status, body: event } = await calls.order(`${root}/${one.id}/test`)
  expect(status).toBe(201)
  expect(event).toEqual({
    id: expect.stringMatching(/^evt_/),
    type: 'endpoint.test',
    created_at: expect.stringMatching(/Z$/),
    data: { endpoint: { id: one.id, url: one.receiver.url } },
  })
  await office.deliver()
  expect(one.receiver.taken().map(({ body }) => JSON.parse(body) as unknown)).toEqual([event])
  expect(other.receiver.taken()).toEqual([])
  const listed = await calls.get('/v1/events?type=endpoint.test')
  expect(listed.body['data']).toEqual([event])
  await Promise.all([calls.remove(one.id), calls.remove(other.id)])
})

test('the delivery log is listed with its attempts, page by page and by status', async () => {
  const { receiver, id } = await calls.register()
  receiver.answerWith(500, {}, 'not today')
  await office.happen(3)
  await office.deliver()
  receiver.answerWith(204)
  office.advance(2)
  await office.deliver()
  receiver.answerWith(503)
  await office.happen(2)
  await office.deliver()
  const first = await calls.get(`${root}/${id}/deliveries?limit=4`)
  const second = await calls.get(
    `${root}/${id}/deliveries?limit=4&cursor=${String(first.body['next_cursor'])}`,
  )
  expect(second.body['next_cursor']).toBeNull()
  const all = [first, second].flatMap(({ body }) => body['data'] as { status: string; event_id: string }[])
  expect(all.map(({ status }) => status)).toEqual([
    'pending',
    'pending',
    'delivered',
    'delivered',
    'delivered',
  ])
  expect(all[4]).toEqual({
    event_id: expect.stringMatching(/^evt_/),
    endpoint_id: id,
    type: 'deposit.detected',
    status: 'delivered',
    attempts: 2,
    next_attempt_at: null,
    created_at: expect.stringMatching(/Z$/),
    ended_at: expect.stringMatching(/Z$/),
    log: [
      { ...attempt(2), status_code: 204, answer: null },
      { ...attempt(1), status_code: 500, answer: 'not today' },
    ],
  })
  const pending = await calls.get(`${root}/${id}/deliveries?status=pending`)
  expect(pending.body['data']).toEqual(all.slice(0, 2))
  await calls.remove(id)
})

function attempt(number: number) {
  return { number, at: expect.stringMatching(/Z$/), duration_ms: expect.any(Number), problem: null }
}

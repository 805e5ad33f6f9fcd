import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { until } from '../../support/until.ts'
import type { TakenWebhook } from '../webhook-receiver.ts'
import { openCalls, root } from './calls.ts'
import { type Office, openOffice } from './office.ts'

let office: Office

beforeAll(async () => {
  office = await openOffice()
})

afterAll(() => office.close())

test('an endpoint that does not answer holds up no other', async () => {
  const [slow, quick] = [await office.receiver(), await office.receiver()]
  slow.answerWith(null)
  await office.happen(30)
  const courier = office.courier()
  const stopping = new AbortController()
  const taken: TakenWebhook[] = []
  await until('the quick one has all', async () => {
    await courier.turn(stopping.signal)
    taken.push(...quick.taken())
    return taken.length === 30 ? true : null
  })
  expect(await office.attemptsOf(slow), 'at most so many at once').toHaveLength(8)
  stopping.abort()
  await courier.idle()
  await Promise.all([office.remove(slow), office.remove(quick)])
})

test('nor one on the same host', async () => {
  const quick: string[] = []
  const server = createServer((request, response) => {
    if (request.url !== '/quick') return
    quick.push(String(request.headers['webhook-id']))
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { body } = await openCalls(office).post(root, { url: `${origin}/slow` })
  const other = await openCalls(office).post(root, { url: `${origin}/quick` })
  await office.happen(20)
  const courier = office.courier()
  const stopping = new AbortController()
  await until('the quick one has all', async () => {
    await courier.turn(stopping.signal)
    return quick.length === 20 ? true : null
  })
  stopping.abort()
  await courier.idle()
  await Promise.all([body['id'], other.body['id']].map((id) => openCalls(office).remove(id)))
  server.closeAllConnections()
  server.close()
})

test('all endpoints together have a bound, and the longest due goes first', async () => {
  const receivers = await Promise.all(Array.from({ length: 10 }, () => office.receiver()))
  await office.happen(20)
  const stopping = new AbortController()
  for (const receiver of receivers) receiver.answerWith(null)
  const courier = office.courier()
  await courier.turn(stopping.signal)
  await courier.turn(stopping.signal)
  const logs = await Promise.all(receivers.map((receiver) => office.attemptsOf(receiver)))
  expect(logs.flat()).toHaveLength(64)
  for (const log of logs) expect(log.length, 'each has its share').toBeGreaterThanOrEqual(6)
  stopping.abort()
  await courier.idle()
  await Promise.all(receivers.map((receiver) => office.remove(receiver)))
})

test('an endpoint that did not answer is tried with one event at a time until it does', async () => {
  const receiver = await office.receiver()
  const courier = office.courier({
    poster: {
      post: () => Promise.resolve({ kind: 'unanswered', problem: 'timed_out' }),
      close: () => undefined,
    },
  })
  const turn = async () => {
    const before = (await office.attemptsOf(receiver)).length
    await courier.turn(new AbortController().signal)
    await courier.idle()
    return (await office.attemptsOf(receiver)).length - before
  }
  await office.happen(20)
  expect(await turn()).toBe(8)
  expect(await turn()).toBe(1)
  await office.remove(receiver)
})

test('twenty deliverers at once send each event once', async () => {
  const receiver = await office.receiver()
  await office.happen(60)
  const couriers = Array.from({ length: 20 }, () => office.courier())
  await Promise.all(couriers.map((courier) => courier.turn(new AbortController().signal)))
  await Promise.all(couriers.map((courier) => courier.idle()))
  const ids = receiver.taken().map(({ headers }) => headers['webhook-id'])
  expect(ids).toHaveLength(60)
  expect(new Set(ids).size).toBe(60)
  await office.remove(receiver)
})

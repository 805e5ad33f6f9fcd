import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFaults, type Faults } from '../../../src/service/faults/faults.ts'
import { until } from '../../support/until.ts'
import { type Book, openBook } from '../book.ts'
import { readKey } from '../fixtures.ts'

const none = { refuseCallRate: 0, failCallRate: 0, stallCallRate: 0 }
let book: Book

beforeAll(async () => {
  book = await openBook()
})
afterAll(() => book.close())

function list(key = readKey, signal: AbortSignal | null = null): Promise<Response> {
  return fetch(`${book.url}/v1/proxies/deposits`, { headers: { 'X-API-KEY': key }, signal })
}

test('a refused call is answered 429, with a Retry-After that is odd now and then', async () => {
  book.faults.set({ ...none, refuseCallRate: 1 })
  const answers = await Promise.all(Array.from({ length: 40 }, () => list()))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]))
  const retries = answers.map(({ headers }) => headers.get('retry-after'))
  expect(retries).toContain('1')
  expect(retries.some((text) => Number.isNaN(Number(text)) || Number(text) < 0)).toBe(true)
  expect(await answers[0]?.json()).toMatchObject({ code: 'rate_limited', status: 429 })
})

test('a failed call is answered 500, and the share of them is the rate', async () => {
  book.faults.set({ ...none, seed: 'fail', failCallRate: 0.5 })
  const answers = await Promise.all(Array.from({ length: 40 }, () => list()))
  const failed = answers.filter(({ status }) => status === 500)
  expect(failed.length).toBeGreaterThan(5)
  expect(failed.length).toBeLessThan(35)
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(40 - failed.length)
})

test('a stalled call gets no answer until its caller gives up', async () => {
  book.faults.set({ ...none, stallCallRate: 1 })
  await expect(list(readKey, AbortSignal.timeout(300))).rejects.toThrow('timeout')
})

test('who has no key is told so, whatever is struck', async () => {
  book.faults.set({ refuseCallRate: 1, failCallRate: 1, stallCallRate: 1 })
  expect((await list('a key that is none')).status).toBe(401)
})

test('the service stops though a call is stalled', async () => {
  const faults = createFaults({ seed: 'stop', stallCallRate: 1 })
  const drawn: string[] = []
  const strikesRequest: Faults['strikesRequest'] = (knob) => {
    drawn.push(knob)
    return faults.strikesRequest(knob)
  }
  const other = await openBook({ ...faults, strikesRequest })
  const stalled = fetch(`${other.url}/v1/proxies/deposits`, { headers: { 'X-API-KEY': readKey } })
  await until('the call is under way', () => drawn.includes('stallCallRate') || null)
  await other.close()
  expect((await stalled).status).toBe(500)
})

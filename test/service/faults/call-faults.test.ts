import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFaults, type Faults } from '../../../src/service/faults/faults.ts'
import { until } from '../../support/until.ts'
import { type Book, openBook } from '../book.ts'
import { readKey } from '../fixtures.ts'

let book: Book

beforeAll(async () => {
  book = await openBook()
})
afterAll(() => book.close())

test('who has no key is told so, whatever is struck', async () => {
  book.faults.set({ refuseCallRate: 1, failCallRate: 1, stallCallRate: 1 })
  const headers = { 'X-API-KEY': 'a key that is none' }
  expect((await fetch(`${book.url}/v1/proxies/deposits`, { headers })).status).toBe(401)
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

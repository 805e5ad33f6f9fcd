import { afterEach, beforeEach, expect, test } from 'vitest'
import { changeEndpoint, type EndpointDeps } from '../../../src/jobs/events/endpoints.ts'
import type { EndpointChange } from '../../../src/store/change-endpoints.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { openEventReceiver, type ReceivedEvent } from '../../support/event-receiver.ts'
import {
  addEndpoint,
  endpointNamed,
  eventVault,
  type SentEvents,
  sendEvents,
} from '../../support/sent-events.ts'

let stack: AsyncDisposableStack
let books: Books
let sending: SentEvents

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  books = stack.use(await openBooks())
  sending = stack.use(sendEvents(books))
})
afterEach(() => stack.disposeAsync())

function change(made: EndpointChange) {
  const deps: EndpointDeps = { db: books.db, vault: eventVault, allowPrivate: true, services: ['default'] }
  return changeEndpoint(deps, { name: 'shop', by: 'erin' }, made)
}

const sequences = (received: readonly ReceivedEvent[]) => received.map(({ sequence }) => sequence)

test('an edit holds for what is not delivered yet: what no longer matches is dropped, what was passed over stays so', async () => {
  const { url, received } = stack.use(
    await openEventReceiver(({ deposit }) => (deposit === null ? 500 : 200)),
  )
  await addEndpoint(books, { url, types: ['seal.published', 'deposit.observed'] })
  await sending.happen(1, null, null)
  await sending.deliver()
  expect(await endpointNamed(books)).toMatchObject({ delivered: 1n, behind: 2n, waiting: 2, failures: 1 })
  const edited = await change({ action: 'edit', types: ['deposit.observed'] })
  expect(edited).toMatchObject({ delivered: 3n, behind: 0n, waiting: 0, behind_since: null, url })
  sending.clock.pass(60)
  await sending.happen(2, null)
  await sending.deliver()
  expect(sequences(received)).toEqual([1, 2, 4])
  await change({ action: 'edit', types: null, payload: 'thin' })
  await sending.happen(null)
  await sending.deliver()
  expect(sequences(received)).toEqual([1, 2, 4, 6])
  expect(received.at(-1)?.body).not.toContain('"data"')
})

test('an address of an edit is checked as that of a new endpoint', async () => {
  await addEndpoint(books, { url: 'https://shop.example/events' })
  await expect(change({ action: 'edit', url: 'ftp://shop.example' })).rejects.toMatchObject({
    details: { problem: 'the URL must be an absolute http or https URL' },
  })
  await expect(change({ action: 'edit', services: ['acme'] })).rejects.toMatchObject({ code: 'usage_bad' })
})

test('it is paused since the first reason', async () => {
  const { url } = stack.use(await openEventReceiver(() => 410))
  await addEndpoint(books, { url })
  expect((await endpointNamed(books)).paused_at).toBeNull()
  await sending.happen(1)
  await sending.deliver()
  const { paused_at: since, behind_since: behind } = await endpointNamed(books)
  expect(since).toBeInstanceOf(Date)
  expect(behind?.getTime()).toBeLessThan(since?.getTime() ?? 0)
  expect(await change({ action: 'pause' })).toMatchObject({ reason: 'requested', paused_at: since })
  expect(await change({ action: 'resume' })).toMatchObject({ state: 'active', paused_at: null })
})

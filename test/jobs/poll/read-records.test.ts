import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  nothingRead,
  type PageWalkResult,
  type PollReport,
  walkPages,
} from '../../../src/jobs/poll/read-records.ts'

import type { DepositClient } from '../../../src/provider/deposit-client.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at } from '../../support/evidence.ts'
import { type ListedRecord, type Listing, startListing } from '../../support/listing.ts'

let stack: AsyncDisposableStack
let books: Books

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  books = stack.use(await openBooks())
})
afterEach(() => stack.disposeAsync())

async function walk(client: DepositClient): Promise<PollReport & PageWalkResult> {
  const deps = { db: books.db, client, now: () => at(600), keepPlace: () => Promise.resolve() }
  const reading = nothingRead()
  const walked = await walkPages(
    deps,
    { from: null, since: null, pagesMax: 99, isEnough: () => false },
    reading,
  )
  return { ...reading, ...walked }
}

const listed = (count: number): ListedRecord[] =>
  Array.from({ length: count }, (_, place) => ({
    id: `dep_${place}`,
    created_at: at(place).toISOString(),
    status: 'confirmed',
  }))

/** A service whose list is another one from its second page on. */
async function shifting(
  pages: 'cursor' | 'page' | 'offset',
  before: number,
  after: number,
): Promise<Listing> {
  const listing = stack.use(await startListing({ pages }))
  listing.records = listed(before)
  listing.before = () => {
    if (listing.asked.length === 2) listing.records = listed(after)
  }
  return listing
}

test.each([
  ['page', 'come in', 25, 27, 25],
  ['offset', 'leave', 25, 23, 25],
] as const)('by %s: where records %s meanwhile, it is seen, and none that stays is lost', async (...way) => {
  const [pages, , before, after, stored] = way
  const { client } = await shifting(pages, before, after)
  const walked = await walk(client)
  expect(walked.drifts).toBeGreaterThan(0)
  expect(walked).toMatchObject({ end: 'reached', stored })
})

test.each(['cursor', 'page', 'offset'] as const)(
  'by %s: where nothing shifts, nothing is seen to',
  async (pages) => {
    const { client } = await shifting(pages, 25, 25)
    expect(await walk(client)).toMatchObject({ drifts: 0, stored: 25 })
  },
)

test('a service that gives its last page again for every number behind it has come to its end', async () => {
  const { client } = await shifting('page', 25, 25)
  const clamping: DepositClient = {
    ...client,
    async listDeposits({ mark, since }) {
      const page = await client.listDeposits({ mark: `${Math.min(3, Number(mark ?? 1))}`, since })
      return page && { ...page, next: { mark: `${Number(mark ?? 1) + 1}`, isDrift: false } }
    },
  }
  expect(await walk(clamping)).toMatchObject({
    end: 'reached',
    stored: 25,
    pages: 4,
    lastMark: '3',
    drifts: 0,
  })
})

const restless = () => Promise.resolve({ records: [], next: { mark: null, isDrift: true } })

test('a list that leads back with every page is given up on', async () => {
  const { client } = stack.use(await startListing({}))
  await expect(walk({ ...client, listDeposits: restless })).rejects.toThrow(
    'records shift between pages faster',
  )
})

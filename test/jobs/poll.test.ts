import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type PollDeps, type Polled, pollDeposits } from '../../src/jobs/poll.ts'
import { createProviderClient } from '../../src/provider/client.ts'
import { takeLease } from '../../src/store/streams.ts'
import { type Books, openBooks } from '../support/books.ts'
import { at, claim, payment } from '../support/evidence.ts'

type Record = { id: string; created_at: string; status: string }

let books: Books
let server: Server
let deps: PollDeps
/** The service's records, newest first, and what to do before a page is answered. */
let records: Record[]
let beforePage: (page: number) => void | Promise<void>
let pages: number

beforeEach(async () => {
  books = await openBooks()
  records = []
  pages = 0
  beforePage = () => undefined
  server = createServer((request, response) => {
    void answer(new URL(request.url ?? '', 'http://service')).then(
      (text) => response.end(text),
      () => response.writeHead(500).end('broken'),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = createProviderClient({ url, apiKey: 'key' })
  deps = { db: books.db, client, holder: 'me', leaseMs: 600_000, overlapMs: 60_000, now: () => at(600) }
})
afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await books[Symbol.asyncDispose]()
})

/** Pages of ten, whatever was asked for; the cursor names the last record of the page. */
async function answer({ searchParams }: URL): Promise<string> {
  pages++
  await beforePage(pages)
  const after = searchParams.get('cursor')
  const start = after === null ? 0 : records.findIndex(({ id }) => id === after) + 1
  const data = records.slice(start, start + 10)
  const isLast = start + 10 >= records.length
  return JSON.stringify({ data, next_cursor: isLast ? null : (data.at(-1)?.id ?? null) })
}

/** Records of these minutes of the made-up world, newest first. */
function listed(...minutes: number[]): Record[] {
  return minutes.map((minute) => ({
    id: `dep_${minute}`,
    created_at: at(minute).toISOString(),
    status: 'confirmed',
  }))
}

const count = (length: number, newest: number) => Array.from({ length }, (_, place) => newest - place)
const poll = (): Promise<Polled | null> => pollDeposits(deps)

async function stored(): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select convert_from(body, 'UTF8') as text from inbox where source = 'api' order by id`.execute(books.db)
  return rows.map(({ text }) => text)
}

const succeeded = async () =>
  (await books.db.selectFrom('stream').select('succeeded_at').executeTakeFirst())?.succeeded_at ?? null

test('a service that lists nothing is polled, too', async () => {
  expect(await poll()).toEqual({ pages: 1, stored: 0 })
  expect(await succeeded()).toBeInstanceOf(Date)
})

test('a record is stored once, and again only when it changed', async () => {
  records = listed(599)
  expect(await poll()).toEqual({ pages: 1, stored: 1 })
  expect(await poll()).toEqual({ pages: 1, stored: 0 })
  records = records.map((one) => ({ ...one, status: 'settled' }))
  expect(await poll()).toEqual({ pages: 1, stored: 1 })
  expect((await stored()).map((text) => (JSON.parse(text) as Record).status)).toEqual([
    'confirmed',
    'settled',
  ])
})

test('without an open deposit, pages are read back by the overlap', async () => {
  records = listed(...count(40, 600))
  expect(await poll()).toEqual({ pages: 1, stored: 10 })
  deps = { ...deps, overlapMs: 25 * 60_000 }
  expect(await poll()).toEqual({ pages: 3, stored: 20 })
})

test('pages are read back to the oldest deposit that is open, and no further', async () => {
  await books.receive(claim({ receivedAt: at(590) }), payment({ blockAt: at(580), receivedAt: at(590) }))
  await books.settle()
  records = listed(...count(60, 600))
  expect(await poll()).toEqual({ pages: 3, stored: 30 })
})

test('the last page ends it, however old what is open may be', async () => {
  deps = { ...deps, overlapMs: 999 * 60_000 }
  records = listed(...count(25, 600))
  expect(await poll()).toEqual({ pages: 3, stored: 25 })
})

test('a record that comes in or changes while pages are read is stored by the next poll', async () => {
  deps = { ...deps, overlapMs: 999 * 60_000 }
  records = listed(...count(25, 600))
  beforePage = (page) => {
    if (page !== 2) return
    records = [
      ...listed(601),
      ...records.map((one) => (one.id === 'dep_600' ? { ...one, status: 'held' } : one)),
    ]
  }
  expect(await poll()).toEqual({ pages: 3, stored: 25 })
  beforePage = () => undefined
  expect(await poll()).toEqual({ pages: 3, stored: 2 })
})

test('a record that stands on two pages is stored once', async () => {
  deps = { ...deps, overlapMs: 999 * 60_000 }
  records = [...listed(...count(10, 600)), ...listed(591, 590)]
  records[4] = { ...listed(600)[0], id: 'dep_600' } as Record
  expect(await poll()).toMatchObject({ stored: 10 })
})

test('a page that fails leaves what was read before it, and the poll counts as not done', async () => {
  deps = { ...deps, overlapMs: 999 * 60_000 }
  records = listed(...count(25, 600))
  beforePage = (page) => (page === 2 ? Promise.reject(new Error('page 2')) : undefined)
  await expect(poll()).rejects.toThrow('500 broken')
  expect(await stored()).toHaveLength(10)
  expect(await succeeded()).toBeNull()
  beforePage = () => undefined
  expect(await poll()).toEqual({ pages: 3, stored: 15 })
})

test('while another process polls, nothing is asked', async () => {
  await takeLease(books.db, { stream: 'poll', holder: 'somebody else', ttlMs: 600_000 })
  expect(await poll()).toBeNull()
  expect(pages).toBe(0)
})

test('of twenty processes that poll at once, one does', async () => {
  records = listed(599)
  const race = Array.from({ length: 20 }, (_, place) => pollDeposits({ ...deps, holder: `holder ${place}` }))
  expect((await Promise.all(race)).filter((one) => one !== null)).toHaveLength(1)
  expect(pages).toBe(1)
})

test('while pages are read, the lease is renewed', async () => {
  deps = { ...deps, overlapMs: 999 * 60_000 }
  records = listed(...count(25, 600))
  const expiries: (Date | undefined)[] = []
  beforePage = async () => {
    const stream = await books.db.selectFrom('stream').select('expires_at').executeTakeFirst()
    expiries.push(stream?.expires_at)
  }
  await poll()
  expect(new Set(expiries.map((expiry) => expiry?.getTime())).size).toBe(3)
  expect(expiries).toEqual(expiries.toSorted((left, right) => Number(left) - Number(right)))
})

test('a process that lost the stream between pages does not count its poll as done', async () => {
  deps = { ...deps, overlapMs: 999 * 60_000, leaseMs: 0 }
  records = listed(...count(25, 600))
  beforePage = async (page) => {
    if (page === 2) await takeLease(books.db, { stream: 'poll', holder: 'somebody else', ttlMs: 600_000 })
  }
  await expect(poll()).rejects.toMatchObject({ code: 'lease_lost' })
  expect(await succeeded()).toBeNull()
})

test('an id with characters that Postgres cannot keep stops no page', async () => {
  records = [...listed(599), { ...listed(598)[0], id: 'dep\u0000\ud800' } as Record]
  expect(await poll()).toEqual({ pages: 1, stored: 2 })
  expect(await poll()).toEqual({ pages: 1, stored: 0 })
})

test('a service whose pages never end is given up on', async () => {
  const page = { records: [], nextCursor: 'more' }
  const endless = { ...deps.client, listDeposits: () => Promise.resolve(page) }
  await expect(pollDeposits({ ...deps, client: endless })).rejects.toThrow('more than 1000 pages')
})

import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ServiceId } from '../../../src/core/evidence.ts'
import { applyDue } from '../../../src/jobs/books/apply.ts'
import { type PollDeps, pollDeposits } from '../../../src/jobs/poll/poll.ts'
import type { PollReport } from '../../../src/jobs/poll/read-records.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at, claim, delivery, payment, webhook } from '../../support/evidence.ts'
import { goneSubjects, listedRecords, savedPosition } from '../../support/listed-records.ts'
import { type ListForm, type Listing, startListing } from '../../support/listing.ts'

let stack: AsyncDisposableStack
let books: Books
let listing: Listing
let deps: PollDeps
/** In minutes of the made-up world. A full reading is due every ten. */
let clock: number

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  books = stack.use(await openBooks())
  clock = 1000
})
afterEach(() => stack.disposeAsync())

/** The service lists so; each poll reads the newest page, and all records when that is due. */
async function listedBy(form: ListForm): Promise<void> {
  listing = stack.use(await startListing(form))
  const times = { leaseMs: 600_000, overlapMs: 60_000, sweepEveryMs: 600_000, now: () => at(clock) }
  deps = { db: books.db, client: listing.client, holder: 'me', ...times }
}

async function pollAfter(minutes: number): Promise<PollReport> {
  clock += minutes
  const reading = await pollDeposits(deps)
  if (reading === null) throw new Error('somebody else polls')
  return reading
}

const changesOf = ({ mismatches }: PollReport) => mismatches.map(({ kind, change }) => `${kind} ${change}`)
const gone = 'record_disappeared opened'
const back = 'record_disappeared cleared'

function leave(...ids: string[]): void {
  listing.records = listing.records.filter(({ id }) => !ids.includes(id))
}

const ways: [string, ListForm][] = [
  ['cursors', { pages: 'cursor' }],
  ['page numbers', { pages: 'page' }],
  ['offsets', { pages: 'offset', order: 'oldest-first' }],
]

describe.each(ways)('of a list by %s', (_what, form) => {
  beforeEach(async () => {
    await listedBy(form)
    listing.records = listedRecords(45)
  })

  test('the first poll reads all there is, and the next one what is recent', async () => {
    expect(await pollAfter(0)).toMatchObject({ stored: 45 })
    listing.asked.length = 0
    await pollAfter(9)
    expect(listing.asked.length).toBeLessThan(4)
    await pollAfter(1)
    expect(listing.asked.length).toBeGreaterThan(5)
  })

  test('a record that is no longer there has disappeared, once, until it is back', async () => {
    await pollAfter(0)
    leave('dep_3')
    expect(changesOf(await pollAfter(9))).toEqual([])
    expect(changesOf(await pollAfter(1))).toEqual([gone])
    expect(await goneSubjects(books.db)).toEqual(['record/dep_3'])
    expect(changesOf(await pollAfter(10))).toEqual([])
    listing.records = listedRecords(45)
    expect(changesOf(await pollAfter(10))).toEqual([back])
    expect(await goneSubjects(books.db)).toEqual([])
  })
})

describe('where records cannot be read alone', () => {
  beforeEach(async () => {
    await listedBy({ one: undefined })
    listing.records = listedRecords(25)
    await pollAfter(0)
  })

  test('one has disappeared that two full readings in a row have missed', async () => {
    leave('dep_3', 'dep_4')
    expect(changesOf(await pollAfter(10))).toEqual([])
    listing.records = listedRecords(25).filter(({ id }) => id !== 'dep_4')
    expect(changesOf(await pollAfter(10))).toEqual([gone])
    expect(await goneSubjects(books.db)).toEqual(['record/dep_4'])
    leave('dep_3')
    expect(changesOf(await pollAfter(10))).toEqual([])
  })

  test('nothing is asked for alone', () => {
    expect(listing.asked.every((path) => path.includes('?'))).toBe(true)
  })
})

test('one that a full reading missed and that is there alone has not disappeared', async () => {
  await listedBy({})
  listing.records = listedRecords(25)
  await pollAfter(0)
  const hidden = listedRecords(25)
  listing.before = ({ pathname }) => {
    listing.records = pathname.endsWith('deposits') ? hidden.filter(({ id }) => id !== 'dep_3') : hidden
  }
  expect(changesOf(await pollAfter(10))).toEqual([])
  expect(listing.asked).toContain('/v1/proxies/deposits/dep_3')
  expect(await goneSubjects(books.db)).toEqual([])
})

test('where it cannot be told now whether one is there, a later poll asks again', async () => {
  await listedBy({})
  listing.records = listedRecords(25)
  await pollAfter(0)
  leave('dep_3')
  listing.before = ({ pathname }) => (pathname.endsWith('dep_3') ? { status: 503, body: '' } : undefined)
  await expect(pollAfter(10)).rejects.toThrow('503')
  expect(await goneSubjects(books.db)).toEqual([])
  listing.before = () => undefined
  expect(changesOf(await pollAfter(1))).toEqual([gone])
})

test('records that cannot be read alone do not keep others waiting', async () => {
  await listedBy({})
  listing.records = listedRecords(45)
  await pollAfter(0)
  leave(...Array.from({ length: 40 }, (_, place) => `dep_${place}`))
  listing.before = ({ pathname }) => (/_(?:39|8)$/.test(pathname) ? undefined : onlyInLists(pathname))
  const disappeared = new Set<string>()
  for (let poll = 0; poll < 200 && disappeared.size < 2; poll++) {
    await pollAfter(poll === 0 ? 10 : 0.001).catch(() => null)
    for (const subject of await goneSubjects(books.db)) disappeared.add(subject)
  }
  expect([...disappeared].toSorted()).toEqual(['record/dep_39', 'record/dep_8'])
})

function onlyInLists(pathname: string) {
  return /dep_\d+$/.test(pathname) ? { status: 400, body: '{}' } : undefined
}

test('a record is not missed that is older than the service keeps any', async () => {
  await listedBy({ keptDays: 1 })
  clock = 1440 + 5
  listing.records = listedRecords(25)
  await pollAfter(0)
  leave(...Array.from({ length: 20 }, (_, place) => `dep_${place}`))
  clock = 1440 + 5
  expect((await pollAfter(10)).mismatches).toHaveLength(5)
  expect((await goneSubjects(books.db)).toSorted()).toEqual([
    'record/dep_15',
    'record/dep_16',
    'record/dep_17',
    'record/dep_18',
    'record/dep_19',
  ])
})

test('a full reading goes on where it was, also after what ended it', async () => {
  await listedBy({})
  listing.pageMax = 1
  listing.records = listedRecords(120)
  await pollAfter(0)
  const startedAt = at(1000).getTime()
  expect((await savedPosition(books.db)).sweep).toEqual({ startedAt, mark: 'dep_70' })
  listing.before = () => (listing.asked.length === 82 ? { status: 500, body: '' } : undefined)
  await expect(pollAfter(1)).rejects.toThrow('500')
  expect((await savedPosition(books.db)).sweep).toEqual({ startedAt, mark: 'dep_43' })
  expect(await pollAfter(1)).toMatchObject({ stored: 43 })
  expect(await savedPosition(books.db)).toMatchObject({ sweep: null, sweptAt: at(1000).getTime() })
})

test('a full reading whose place the service does not know any more begins anew', async () => {
  await listedBy({})
  listing.pageMax = 1
  listing.records = listedRecords(60)
  await pollAfter(0)
  const mark = (await savedPosition(books.db)).sweep?.mark ?? ''
  leave(mark)
  await pollAfter(1)
  expect((await savedPosition(books.db)).sweep).toBeNull()
  await pollAfter(1)
  await pollAfter(1)
  expect(await savedPosition(books.db)).toMatchObject({ sweep: null, sweptAt: at(1002).getTime() })
})

test('what a full reading finds changed is another revision, however old', async () => {
  await listedBy({ since: { parameter: 'since', of: 'updated' } })
  listing.records = listedRecords(25)
  await pollAfter(0)
  listing.records = listedRecords(25).map((one) => (one.id === 'dep_0' ? { ...one, status: 'held' } : one))
  expect(await pollAfter(9)).toMatchObject({ stored: 0 })
  expect(await pollAfter(1)).toMatchObject({ stored: 1 })
})

test('a settled deposit whose record disappears stays settled, and says so', async () => {
  await listedBy({})
  const dep = { id: 'dep_1', created_at: at(1).toISOString(), status: 'settled' }
  listing.records = [dep]
  await books.receive(webhook(), claim(), payment(), delivery())
  await books.settle()
  await pollAfter(0)
  listing.records = []
  expect(changesOf(await pollAfter(10))).toEqual([gone])
  const { rows } = await sql`
    select d.state, m.severity, m.value::text, m.detail from mismatch m join deposit d on d.id = m.deposit_id
    where m.kind = 'record_disappeared'`.execute(books.db)
  expect(rows).toEqual([
    {
      state: 'reconciled',
      severity: 'warning',
      value: '100000000',
      detail: { record: 'dep_1', state: 'reconciled' },
    },
  ])
  await sql`update evidence_group set recheck_at = now() - interval '1 day'`.execute(books.db)
  await applyDue(books.deps)
  expect(await goneSubjects(books.db)).toEqual(['record/dep_1'])
})

test('a deposit that is open for long is read alone, at most once an hour', async () => {
  await listedBy({ since: { parameter: 'since', of: 'updated' } })
  listing.records = [{ id: 'dep_1', created_at: at(1).toISOString(), status: 'held' }]
  deps = { ...deps, sweepEveryMs: Number.MAX_SAFE_INTEGER }
  await books.receive(claim({ status: 'held', serviceId: 'dep_1' as ServiceId }), payment())
  await books.settle()
  await pollAfter(0)
  await sql`update deposit set created_at = now() - interval '30 days'`.execute(books.db)
  const alone = () => listing.asked.filter((path) => path.endsWith('/dep_1')).length
  await pollAfter(59)
  expect(alone()).toBe(0)
  listing.records = [{ id: 'dep_1', created_at: at(1).toISOString(), status: 'settled' }]
  expect(await pollAfter(2)).toMatchObject({ stored: 1 })
  await pollAfter(10)
  expect(alone()).toBe(1)
})

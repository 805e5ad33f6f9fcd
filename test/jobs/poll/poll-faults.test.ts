import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type PollDeps, pollDeposits } from '../../../src/jobs/poll/poll.ts'
import { createDepositClient, type DepositClient } from '../../../src/provider/deposit-client.ts'
import { createServiceCall, type ProviderOutcome } from '../../../src/provider/service-call.ts'
import type { FaultKnob } from '../../../src/service/faults/fault-table.ts'
import { type Book, openBook } from '../../service/book.ts'
import { readKey } from '../../service/fixtures.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { ownProfile } from '../../support/profile.ts'

const count = 60

let stack: AsyncDisposableStack
let books: Books
let service: Book
let outcomes: ProviderOutcome[]
/** In milliseconds since 1970; waits between attempts move it. A full reading is due with each poll. */
let clock: number

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  books = stack.use(await openBooks())
  service = await openBook()
  stack.defer(() => service.close())
  const numbers = Array.from({ length: count }, (_, place) => place + 1)
  await service.record(
    numbers.map((number) => service.payment(number, number % 2 === 0)),
    0n,
  )
  outcomes = []
  clock = Date.now()
})
afterEach(() => stack.disposeAsync())

const pace = {
  now: () => new Date(clock),
  random: () => 0.5,
  wait(milliseconds: number) {
    clock += milliseconds
    return Promise.resolve()
  },
}

/** Pages of seven, with a key that may read and nothing else. */
function client(timeoutMs = 60_000): DepositClient {
  const settings = { url: service.url, apiKey: readKey, timeoutMs }
  const call = createServiceCall(settings, (outcome) => outcomes.push(outcome), pace)
  return createDepositClient(
    { url: service.url, call },
    { ...ownProfile, list: { ...ownProfile.list, limit: 7 } },
  )
}

/** Polls until all are stored, as the ticks do; a poll that fails is followed by the next one. */
async function pollUntil(isDone: () => Promise<boolean>, asked = client()): Promise<string[]> {
  const problems: string[] = []
  const times = { leaseMs: 600_000, overlapMs: 3_600_000, sweepEveryMs: 0, now: pace.now }
  const deps: PollDeps = { db: books.db, client: asked, holder: 'me', ...times }
  for (let polls = 0; polls < 200; polls++) {
    clock += 15_000
    await pollDeposits(deps).catch((error: unknown) => problems.push(String(error)))
    if (await isDone()) return problems
  }
  throw new Error(`not done after 200 polls: ${problems.at(-1)}`)
}

const stored = async () => (await books.db.selectFrom('api_record').select('service_id').execute()).length
const isAllStored = async () => (await stored()) === count

async function disappeared(): Promise<{ open: number; ever: number }> {
  const { rows } = await sql<{ open: number; ever: number }>`
    select count(*) filter (where cleared_at is null)::int as open, count(*)::int as ever
    from mismatch where kind = 'record_disappeared'`.execute(books.db)
  return rows[0] ?? { open: 0, ever: 0 }
}

async function revisions(): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from inbox where source = 'api'`.execute(books.db)
  return rows[0]?.count ?? 0
}

const rates = (...knobs: FaultKnob[]) => Object.fromEntries(knobs.map((knob) => [knob, 0.3]))

test('a key that may only read is enough', async () => {
  expect(await pollUntil(isAllStored)).toEqual([])
})

describe('all are stored once, and none is missed, though the service', () => {
  test.each<[string, FaultKnob[]]>([
    ['shifts records between pages', ['driftPageRate']],
    ['lists the records of a page in another order', ['reorderRecordsRate']],
    ['answers 429 with an odd Retry-After now and then', ['refuseCallRate']],
    ['answers 500 now and then', ['failCallRate']],
    ['does all of that', ['driftPageRate', 'reorderRecordsRate', 'refuseCallRate', 'failCallRate']],
  ])('%s', async (_what, knobs) => {
    service.faults.set(rates(...knobs))
    await pollUntil(isAllStored)
    const after = clock + 300_000
    await pollUntil(() => Promise.resolve(clock > after))
    expect(await disappeared()).toEqual({ open: 0, ever: 0 })
    expect(await revisions()).toBe(count)
  })
})

test('calls that are not answered end by their time-out, and are tried again', async () => {
  service.faults.set(rates('stallCallRate'))
  await pollUntil(isAllStored, client(1000))
  expect(outcomes).toContain('failed')
})

test('records that the service takes away have disappeared, and are back when it lists them again', async () => {
  await pollUntil(isAllStored)
  service.faults.set({ hideRecordRate: 0.2 })
  const hidden = async () => count - (await service.list('limit=500')).data.length
  const wanted = await hidden()
  expect(wanted).toBeGreaterThan(3)
  await pollUntil(async () => (await disappeared()).open === wanted)
  service.faults.set({ hideRecordRate: 0 })
  await pollUntil(async () => (await disappeared()).open === 0)
  expect((await disappeared()).ever).toBe(wanted)
})

test('a record that is edited, and edited back, is kept in each version', async () => {
  await pollUntil(isAllStored)
  service.faults.set({ editRecordRate: 1 })
  await pollUntil(async () => (await revisions()) === 2 * count)
  service.faults.set({ editRecordRate: 0 })
  await pollUntil(async () => (await revisions()) === 3 * count)
})

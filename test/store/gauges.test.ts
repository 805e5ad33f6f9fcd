import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/store/database.ts'
import {
  readGauges,
  readTotals,
  type StoreGauges,
  type StoreTotals,
  summarise,
} from '../../src/store/gauges.ts'
import { appendInbox } from '../../src/store/inbox.ts'
import { moveCursor, takeLease } from '../../src/store/streams.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type Books, openBooks } from '../support/books.ts'
import {
  at,
  claim,
  delivery,
  payment,
  txId,
  usdcOnArbitrum,
  usdcOnBase,
  webhook,
} from '../support/evidence.ts'
import { manualJournals, people, written } from '../support/manual-journals.ts'
import { addPeople, decideTogether, decisionDeps, journalRequest } from '../support/people.ts'
import { bookPayments, seal } from '../support/sealed-books.ts'
import { tamper } from '../support/tamper.ts'
import { addJournal } from '../support/unsigned.ts'

let books: Books
let gauges: StoreGauges
let totals: StoreTotals

/** One deposit that is reconciled, one that nobody reports, one whose payment was only seen. */
beforeAll(async () => {
  books = await openBooks()
  const { untied, unexplained, cases, ...fresh } = await readGauges(books.db)
  expect(cases).toEqual([])
  expect(fresh).toEqual({
    inbox: { pending: 0, oldest: 0 },
    quarantine: [],
    stages: [],
    mismatches: [],
    atRisk: [],
    streams: [],
    sealAge: expect.any(Number) as number,
    events: { active: 0, paused: 0, stopped: 0, oldest: 0 },
    unsigned: 0,
    policyWaits: false,
    notifications: [],
  })
  expect(new Set([...untied, ...unexplained].map(({ units }) => units))).toEqual(new Set([0]))
  expect(await readTotals(books.db)).toEqual({
    deposits: [],
    matrix: [],
    assets: [],
    balances: [],
    imbalances: [],
    coverageGaps: [],
  })
  await books.receive(webhook(), claim(), payment(), delivery())
  await books.receive(payment({ tx: txId('unreported') }), payment({ tx: txId('seen'), stage: 'seen' }))
  await books.settle()
  await sql`update mismatch set opened_at = now() - interval '100 seconds'`.execute(books.db)
  await appendInbox(books.db, [
    { source: 'webhook', sourceKey: 'waits', body: Buffer.from('{}'), headers: {}, receivedAt: at(1) },
  ])
  await sql`update inbox_pending set stored_at = now() - interval '50 seconds'`.execute(books.db)
  const lease = await takeLease(books.db, { stream: 'scan/base', holder: 'me', ttlMs: 1000 })
  if (lease === null) throw new Error('nobody else wants it')
  const progress = { head: 9_007_199_254_740_991, final: 100 }
  await books.db.transaction().execute((tx) => moveCursor(tx, lease, { cursor: null, progress }))
  await takeLease(books.db, { stream: 'poll', holder: 'me', ttlMs: 1000 })
  await sql`update stream set succeeded_at = now() - interval '30 seconds' where name = 'scan/base'`.execute(
    books.db,
  )
  gauges = await readGauges(books.db)
  totals = await readTotals(books.db)
})
afterAll(() => books[Symbol.asyncDispose]())

test('what waits is counted, with the age of the oldest', () => {
  expect(gauges.inbox.pending).toBe(1)
  expect(gauges.inbox.oldest).toBeCloseTo(50, -1)
})

test('deposits are counted by state, service and network', () => {
  const counted = totals.deposits.toSorted((left, right) => (left.state < right.state ? -1 : 1))
  expect(counted).toEqual([
    { state: 'confirmed', service: 'default', network: 'base', count: 1 },
    { state: 'observed', service: 'default', network: 'base', count: 1 },
    { state: 'reconciled', service: 'default', network: 'base', count: 1 },
  ])
})

test('each stage that somebody waits for has the age of the oldest, and no other', () => {
  const stages = gauges.stages.map(({ stage, network }) => `${stage} ${network}`).toSorted()
  expect(stages).toEqual([
    'api_detection base',
    'apply ',
    'delivery base',
    'finality base',
    'reconciliation base',
    'settlement base',
  ])
  const ages = new Set(gauges.stages.map(({ oldest }) => Number.isFinite(oldest) && oldest > 0))
  expect(ages).toEqual(new Set([true]))
})

test('open mismatches are counted with their age and what is at stake, in units', () => {
  expect(gauges.mismatches).toEqual([
    {
      kind: 'unreported',
      severity: 'severe',
      service: 'default',
      network: 'base',
      age: 'under_1h',
      count: 1,
      oldest: expect.closeTo(100, -1),
    },
  ])
  expect(gauges.atRisk).toEqual([{ service: 'default', asset: usdcOnBase, severity: 'severe', units: 100 }])
})

test('what is closed waits for nothing, and what has ended is not open', async () => {
  await using own = await openBooks()
  await own.receive(claim(), payment(), delivery())
  await own.settle()
  expect((await readGauges(own.db)).mismatches).toHaveLength(1)
  await own.receive(webhook())
  await own.settle()
  expect(await readGauges(own.db)).toMatchObject({ stages: [], mismatches: [], atRisk: [] })
})

test('the imbalance of each asset is told, and is zero', () => {
  const units = Object.fromEntries(totals.imbalances.map((one) => [one.asset, one.units]))
  expect(units).toEqual({ [usdcOnBase]: 0, [usdcOnArbitrum]: 0 })
})

test('balances are told by what accounts are for, and never of whom', () => {
  const reported = totals.balances
    .map(({ account, asset, units }) => `${account} ${asset} ${units}`)
    .toSorted()
  expect(reported).toEqual([
    `deposits ${usdcOnArbitrum} -100`,
    `deposits ${usdcOnBase} 0`,
    `fees ${usdcOnArbitrum} 0.1`,
    `forwarded ${usdcOnArbitrum} 99.9`,
    `in_transit ${usdcOnBase} 100`,
    `suspense ${usdcOnBase} -100`,
    `trading ${usdcOnArbitrum} 0`,
    `trading ${usdcOnBase} 0`,
  ])
  expect(totals.assets).toContainEqual({ asset: usdcOnBase, network: 'base', symbol: 'USDC' })
})

test('what the books add up to is told to the smallest unit, and not lost in a sum of large numbers', async () => {
  await using own = await openBooks()
  const owner = openDatabase<Tables>({ url: own.url, poolMax: 1, applicationName: 'test owner' })
  await sql`create or replace function ledger_turnover(as_of timestamptz, recorded_as_of timestamptz, only_accounts text[] default null)
    returns table (account text, asset text, debit numeric, credit numeric) language sql as $$
      values ('assets:in_transit:base', ${sql.lit(usdcOnBase)}, 90071992547409930000001::numeric, 0::numeric),
        ('liabilities:deposits:channel:shop', ${sql.lit(usdcOnBase)}, 0, 90071992547409930000000) $$`.execute(
    owner,
  )
  await owner.destroy()
  expect((await readTotals(own.db)).imbalances).toEqual([{ asset: usdcOnBase, units: 0.000001 }])
})

test('the matrix of the last day says how many deposits have each cell', async () => {
  await using own = await openBooks()
  await own.receive(webhook(), claim(), payment(), delivery())
  await own.settle()
  await sql`update deposit set deposited_at = now() - interval '25 hours'`.execute(own.db)
  expect((await readTotals(own.db)).matrix).toEqual([])
  await sql`update deposit set deposited_at = now()`.execute(own.db)
  const { matrix } = await readTotals(own.db)
  expect(matrix).toHaveLength(6)
  expect(matrix).toContainEqual({
    service: 'default',
    leg: 'settlement',
    source: 'chain',
    cell: 'agrees',
    count: 1,
  })
})

test('a delivery is waited for from when the step was known until a webhook tells of it', async () => {
  await using own = await openBooks()
  await own.receive(claim(), payment())
  await own.settle()
  const waiting = async () => (await readGauges(own.db)).stages.filter(({ stage }) => stage === 'delivery')
  const { rows } = await sql<{ since: Date }>`select unreported_since as since from deposit`.execute(own.db)
  const seconds = (Date.now() - (rows[0]?.since.getTime() ?? 0)) / 1000
  expect(await waiting()).toEqual([
    {
      stage: 'delivery',
      service: 'default',
      network: 'base',
      oldest: expect.closeTo(seconds, -1),
      unnamed: null,
    },
  ])
  await own.receive(webhook())
  await own.settle()
  expect(await waiting()).toEqual([])
})

test('the oldest row that is not sealed tells for how long, and none does where all are', async () => {
  expect(gauges.sealAge).toBeGreaterThan(0)
  await using own = await openBooks()
  await bookPayments(own, 1, 2)
  await seal(own)
  expect((await readGauges(own.db)).sealAge).toBe(0)
})

test('streams that succeeded once tell how long ago, and how far they are', () => {
  expect(gauges.streams).toEqual([
    { name: 'scan/base', age: expect.closeTo(30, -1), progress: { head: 9_007_199_254_740_991, final: 100 } },
  ])
})

test('the summary says how things stand', async () => {
  expect(await summarise(books.db)).toEqual({
    states: [
      { state: 'confirmed', count: 1 },
      { state: 'observed', count: 1 },
      { state: 'reconciled', count: 1 },
    ],
    oldestOpenSeconds: expect.any(Number),
    mismatches: [{ kind: 'unreported', count: 1 }],
    isBalanced: true,
  })
})

test('what is ignored is no deposit of the summary', async () => {
  await using own = await openBooks()
  await own.receive(webhook())
  await own.settle()
  await sql`update deposit set state = 'ignored'`.execute(own.db)
  expect((await summarise(own.db)).states).toEqual([])
})

test('decisions of the last day without signatures are counted, and signed ones are not', async () => {
  await using own = await openBooks()
  const deps = manualJournals(own.owner)
  await addJournal(deps, written({ reference: 'one' }), people)
  await addPeople(own.owner)
  await decideTogether(decisionDeps(own.owner, deps.accountPatterns), journalRequest({ reference: 'two' }))
  expect((await readGauges(own.db)).unsigned).toBe(1)
  await tamper(own, `update ledger_journal set recorded_at = now() - interval '25 hours'`)
  expect((await readGauges(own.db)).unsigned).toBe(0)
})

import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { composeConsole } from '../../src/app/console.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { createMetrics } from '../../src/ops/metrics.ts'
import { startOps } from '../../src/ops/server.ts'
import { listDeposits } from '../../src/store/books/list-deposits.ts'
import { type Database, inTransaction, openDatabase } from '../../src/store/database.ts'
import { listMismatches } from '../../src/store/mismatches/show-mismatches.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type Books, openBooks } from '../support/books.ts'
import { serveBooks } from '../support/books-console.ts'
import { pageAt } from '../support/console-reader.ts'
import { explainStatements } from '../support/explain-statements.ts'
import { judgingEnvironment } from '../support/judging-environment.ts'
import { emptyReading, readAs } from '../support/ops-server.ts'
import { until } from '../support/until.ts'
import { bookYear, storeYear } from '../support/year-of-books.ts'

let books: Books
let owner: Database<Tables>

/** DEPOSITD_DEPOSITS=1000000 takes some minutes, and prints how long each page takes. */
const asked = process.env.DEPOSITD_DEPOSITS
const deposits = Number(asked ?? 50_000)
const open = deposits / 100

beforeAll(async () => {
  books = await openBooks()
  owner = openDatabase<Tables>({
    url: books.url,
    poolMax: 1,
    applicationName: 'test owner',
    queryTimeoutMs: 600_000,
  })
  await storeYear(owner, deposits)
  await bookYear(owner)
}, 300_000)
afterAll(async () => {
  await owner.destroy()
  await books[Symbol.asyncDispose]()
})

/** How many rows were ever read by reading a table through. */
async function readThrough(): Promise<string> {
  const { rows } = await sql<{ name: string; read: bigint }>`
    select relname as name, seq_tup_read as read from pg_stat_user_tables
    where relname in ('deposit', 'mismatch', 'evidence', 'inbox', 'evidence_group', 'ledger_journal', 'ledger_snapshot', 'checkpoint')
      or relname like 'ledger_transfer%' order by relname`.execute(owner)
  return rows.map(({ name, read }) => `${name} ${read}`).join(', ')
}

/** Sessions write down what they did when they end. */
async function ended(): Promise<void> {
  await until('the sessions of the console have ended', async () => {
    const { rows } = await sql`
      select from pg_stat_activity where application_name = 'depositd console' and datname = current_database()`.execute(
      owner,
    )
    return rows.length === 0 ? true : null
  })
}

test('no page reads a table of deposits, mismatches, evidence or the ledger through', async () => {
  const { rows } = await sql<{ deposit: bigint; mismatch: bigint }>`
    select deposit_id as deposit, id as mismatch from mismatch where cleared_at is null limit 1`.execute(
    owner,
  )
  const [{ deposit, mismatch } = { deposit: 0n, mismatch: 0n }] = rows
  await sql`select pg_stat_force_next_flush()`.execute(owner)
  const before = await readThrough()
  await using stack = new AsyncDisposableStack()
  const settings = parseSettings(judgingEnvironment(books.url), () => '')
  const ops = await startOps({ host: '127.0.0.1', port: 0, metrics: createMetrics('test') })
  stack.defer(() => ops.stop())
  const readiness = { checks: [], isNeeded: () => true }
  const shown = composeConsole(settings, {
    version: 'test',
    services: { names: () => ['default'], followed: () => settings },
    ops,
    gauges: { read: readAs(emptyReading) },
    readiness,
  })
  ops.open(shown)
  const paths = [
    '/',
    '/deposits',
    `/deposits?before=${deposit}`,
    '/deposits?state=settled',
    '/deposits?owner=nobody',
    '/deposits?state=settled&network=base',
    `/deposits/${deposit}`,
    '/deposits/find?reference=dep_77',
    '/deposits/find?reference=tx77',
    '/mismatches',
    '/mismatches?status=snoozed&severity=severe',
    '/mismatches/causes',
    '/mismatches?status=snoozed&kind=webhook_missing&network=base&since=2026-01-01&until=2099-01-01T00:00Z',
    `/mismatches?after=${mismatch}`,
    '/mismatches?status=all',
    `/mismatches?status=all&after=${mismatch}`,
    '/mismatches?status=all&severity=severe',
    '/proposals',
    `/mismatches/${mismatch}`,
    '/ledger',
    '/ledger/journals',
    '/ledger/journals?period=2026-02',
    '/ledger/journals?kind=manual',
    '/ledger/journals?by=ada',
    '/ledger/journals/7',
    '/networks',
    '/ledger/statement?owner=channel:shop',
    `/ledger/statement?owner=channel:shop&from=${yearAgo}`,
    `/ledger/statement?owner=shop-7&from=${yearAgo}`,
    `/ledger/statement?owner=assets:in_transit:base&from=${yearAgo}`,
    '/addresses',
    '/addresses?after=shop-5/base/address',
    '/webhooks',
    '/services',
    '/decisions',
    '/people',
  ]
  const statuses: string[] = []
  for (const path of paths) statuses.push(`${path} ${(await pageAt(ops.url + path)).status}`)
  expect(statuses).toEqual(paths.map((path) => `${path} ${path.includes('/find?') ? 303 : 200}`))
  const slow: string[] = []
  if (asked !== undefined)
    for (const path of paths) if ((await printTimes(ops.url + path)) > p95MaxMs) slow.push(path)
  expect(slow).toEqual([])
  await shown[Symbol.asyncDispose]()
  await ended()
  expect(await readThrough()).toBe(before)
}, 600_000)

const p95MaxMs = 200
const yearAgo = new Date(Date.now() - 365 * 86_400_000).toISOString().slice(0, 10)

/**
 * With what a page keeps for some seconds, as viewers meet it.
 * @returns the 95th percentile in milliseconds
 */
async function printTimes(url: string): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < 40; round++) {
    const begun = performance.now()
    await pageAt(url)
    times.push(performance.now() - begun)
    await sleep(50)
  }
  const [first = 0] = times
  times.sort((a, b) => a - b)
  const [p50 = 0, p95 = 0] = [0.5, 0.95].map((share) => times[Math.floor(share * times.length)])
  const figures = [first, p50, p95].map((time) => time.toFixed(0))
  process.stdout.write(`${figures.join(', ')} ms first, p50, p95  ${url.replace(/^http:..[^/]*/, '')}\n`)
  return p95
}

test('the overview shows the figures of all that is stored', async () => {
  await using stack = new AsyncDisposableStack()
  const { status, text } = await pageAt(await serveBooks(books, stack))
  expect([status, text.includes('Figures are missing')]).toEqual([200, false])
  expect(text).toMatch(/\d+ in the last 24 hours, \d+ of them reconciled/)
  expect(text).toContain(`href="/deposits?state=reconciled&#38;network=base">${deposits - open}<`)
})

test('the deposits of one owner are found without looking at those of others, or at older ones of this owner', async () => {
  const plans = await inTransaction(books.db, async (tx) => {
    const explained = explainStatements(tx)
    await listDeposits(explained.tx, { limit: 50, owner: 'nobody', before: 45_000n })
    return explained.plans
  })
  expect(plans.join('\n')).toContain('Index Scan Backward using deposit_owner')
})

test('pages of mismatches follow each other without a gap and without one twice', async () => {
  const seen: string[] = []
  let after: bigint | undefined
  for (;;) {
    const rows = await listMismatches(books.db, { limit: 30, also: 'nothing', after })
    seen.push(...rows.map(({ id }) => id))
    if (rows.length < 30) break
    after = BigInt(rows.at(-1)?.id ?? 0)
  }
  const all = await listMismatches(books.db, { limit: open + 1, also: 'nothing' })
  expect(all.length).toBe(open)
  expect(seen).toEqual(all.map(({ id }) => id))
})

test('of all mismatches that ever were the newest come first, page by page, by their index', async () => {
  const wish = { limit: 30, also: 'all', isNewestFirst: true } as const
  const first = await listMismatches(books.db, wish)
  const after = BigInt(first.at(-1)?.id ?? 0)
  const both = await listMismatches(books.db, { ...wish, limit: 60 })
  expect([...first, ...(await listMismatches(books.db, { ...wish, after }))]).toMatchObject(
    both.map(({ id }) => ({ id })),
  )
  expect(both.map(({ id }) => Number(id))).toEqual(
    both.map(({ id }) => Number(id)).toSorted((left, right) => right - left),
  )
  const plans = await inTransaction(books.db, async (tx) => {
    const explained = explainStatements(tx)
    await listMismatches(explained.tx, { ...wish, after })
    return explained.plans
  })
  expect(plans.join('\n')).toMatch(/Index Scan Backward using mismatch_pkey/)
})

test('pages of deposits follow each other by their numbers', async () => {
  const first = await listDeposits(books.db, { limit: 20, state: 'settled' })
  const second = await listDeposits(books.db, {
    limit: 20,
    state: 'settled',
    before: BigInt(first.at(-1)?.id ?? 0),
  })
  const both = await listDeposits(books.db, { limit: 40, state: 'settled' })
  expect([...first, ...second].map(({ id }) => id)).toEqual(both.map(({ id }) => id))
})

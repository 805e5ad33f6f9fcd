import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { sealBooks } from '../../src/jobs/books/seal-books.ts'
import { createApiToken } from '../../src/store/api-tokens.ts'
import { type Database, inTransaction } from '../../src/store/database.ts'
import { readGauges, readTotals } from '../../src/store/gauges.ts'
import { readDayScorecard } from '../../src/store/scorecard.ts'
import type { Tables } from '../../src/store/tables.ts'
import { makeSecret } from '../../test/support/sign-webhook.ts'
import type { PostgresGround } from '../postgres-ground.ts'
import type { Message } from '../reconcile/backlog.ts'
import { takeMessages } from '../reconcile/store-backlog.ts'
import { startServed } from '../scrape/measure-scrapes.ts'
import { madeTransaction, storeDeposits } from '../scrape/store-deposits.ts'
import { arrivals, arrive } from '../sizes/arrive.ts'
import { costOf } from '../sizes/cost.ts'

/** `applied`: deposits that arrive in each round. */
export type GrowthSettings = { rounds: number; sizes: readonly number[]; applied: number }

/** Of one number of deposits: of each cost the milliseconds, a value per round, or several. */
export type Grown = { deposits: number; bytes: number; costs: Record<string, number[]> }

/** The same at each size; the rest of the deposits is closed. */
const [open, withMismatch] = [200, 50]
const days = 30
const owner = 'channel-7'
const rowsAtOnce = 10
const readsPerRound = 5
/** One token may make 50 requests a second. */
const pauseMs = 25

type Cost = readonly [name: string, takeMs: (round: number) => Promise<number>]
type Books = { url: string; db: Database<Tables> }

/**
 * Fills a database for each size, and takes turns among them, so that all are measured while the machine is equally fast.
 * @throws if a page or a call is not answered with 200, or arriving deposits are not applied
 */
export async function measureGrowth(
  ground: PostgresGround,
  { rounds, sizes, applied }: GrowthSettings,
  progress: (text: string) => void,
): Promise<Grown[]> {
  await using stack = new AsyncDisposableStack()
  const grown: Growing[] = []
  for (const deposits of sizes) {
    const name = `grown_${deposits}`
    const books = await ground.database(name)
    await fill(books.db, deposits, progress)
    const all = [...(await costsOfReading(books, deposits, stack)), costOfApplying(books, name, applied)]
    grown.push({ deposits, bytes: await bytesOf(books.db), costs: {}, all })
  }
  for (let round = 0; round <= rounds; round++) {
    for (const one of grown) {
      await measureRound(one, round)
      progress(`round ${round} of ${rounds}: ${one.deposits} deposits are measured\n`)
    }
  }
  return grown.map(({ deposits, bytes, costs }) => ({ deposits, bytes, costs }))
}

type Growing = Grown & { all: readonly Cost[] }

/** Round 0 is not counted: all are warm after it. */
async function measureRound({ all, costs }: Growing, round: number): Promise<void> {
  for (const [cost, takeMs] of all) {
    const ms = await takeMs(round)
    if (round > 0) costs[cost] = [...(costs[cost] ?? []), ms]
  }
}

async function fill(db: Database<Tables>, deposits: number, progress: (text: string) => void): Promise<void> {
  await storeDeposits(db, { deposits, days, open, withMismatch }, progress)
  await sql`
    insert into owner (kind, id, forward_network, forward_recipient, added_by)
    values ('channel', ${owner}, 'arbitrum', '0x1', 'bench')`.execute(db)
  const { rows } = await sealBooks(db, null)
  progress(`${rows} rows are sealed\n`)
  await sql`vacuum analyze`.execute(db)
}

async function costsOfReading(
  { url, db }: Books,
  deposits: number,
  stack: AsyncDisposableStack,
): Promise<Cost[]> {
  const { metricsUrl, consoleUrl, apiUrl } = await startServed(
    { databaseUrl: url, secret: makeSecret(), role: 'http' },
    stack,
  )
  const headers = { authorization: `Bearer ${await readerToken(db)}` }
  const html = { accept: 'text/html' }
  // The first deposit is that of the made books, and has no transaction.
  const scattered = (turn: number) => 2 + ((turn * 7919) % (deposits - 1))
  const call = (name: string, pathOf: (round: number) => string): Cost => [
    name,
    repeated(pauseMs, (turn) => get(`${apiUrl}/v1${pathOf(turn)}`, headers)),
  ]
  const page = (name: string, pathOf: (round: number) => string): Cost => [
    name,
    repeated(pauseMs, (turn) => get(consoleUrl + pathOf(turn), html)),
  ]
  return [
    ['scrape', repeated(pauseMs, () => get(metricsUrl, {}))],
    ['gauges, read anew', repeated(0, () => timed(() => readGauges(db)))],
    ['sums, read anew', repeated(0, () => timed(() => readTotals(db)))],
    ['scorecard of a day', repeated(0, () => timed(() => readDayScorecard(db)))],
    page('overview', () => '/'),
    page('list, console', () => '/deposits'),
    page('mismatches, console', () => '/mismatches'),
    page('show, console', (turn) => `/deposits/${scattered(turn)}`),
    call('list', () => '/deposits'),
    call('list of a state', () => '/deposits?state=settling'),
    call('list of an owner', () => `/deposits?owner=${owner}`),
    call('by transaction', (turn) => `/deposits?tx=${madeTransaction('pay', scattered(turn))}`),
    call('show', (turn) => `/deposits/${scattered(turn)}`),
    call('statement', () => `/owners/${owner}/statement`),
  ]
}

/** The median of some, so that one pause does not decide. */
function repeated(restMs: number, takeMs: (turn: number) => Promise<number>): Cost[1] {
  return async (round) => {
    const all: number[] = []
    for (let turn = 0; turn < readsPerRound; turn++) {
      all.push(await takeMs(round * readsPerRound + turn))
      await sleep(restMs)
    }
    return all.toSorted((left, right) => left - right)[Math.floor(readsPerRound / 2)] ?? Number.NaN
  }
}

/** Milliseconds of processor time per deposit, of Postgres and the program. */
function costOfApplying(books: Books, name: string, applied: number): Cost {
  const messages = arrivals(100 * applied)
  return [
    'apply, processor time per deposit',
    async () => {
      const some = takeMessages(messages, 4 * applied)
      const work = (ground: Books & { deposits: number }) => arrive(ground, rowsAtOnce, yielded(some))
      const { programMs, postgresMs } = await costOf(
        name,
        { ...books, deposits: applied },
        { step: '', work },
      )
      await checkApplied(books.db)
      return programMs + postgresMs
    },
  ]
}

function* yielded(messages: readonly Message[]): Generator<Message> {
  yield* messages
}

async function checkApplied(db: Database<Tables>): Promise<void> {
  const { rows } = await sql`select from inbox_pending limit 1`.execute(db)
  if (rows.length > 0) throw new Error('rows that arrived are not applied')
}

async function readerToken(db: Database<Tables>): Promise<string> {
  const wanted = {
    name: 'bench',
    scopes: ['read_deposits', 'read_books'],
    services: null,
    owners: null,
    by: 'bench',
  } as const
  const { token } = await inTransaction(db, (tx) => createApiToken(tx, wanted))
  return token
}

async function get(url: string, headers: Record<string, string>): Promise<number> {
  return timed(async () => {
    const response = await fetch(url, { headers, redirect: 'manual' })
    const text = await response.text()
    if (response.status !== 200)
      throw new Error(`${url} was answered ${response.status}: ${text.slice(0, 200)}`)
  })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

async function bytesOf(db: Database<Tables>): Promise<number> {
  const { rows } = await sql<{ bytes: string }>`
    select pg_database_size(current_database())::text as bytes`.execute(db)
  return Number(rows[0]?.bytes)
}

import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { startGround } from '../../bench/ground.ts'
import { sendPaced } from '../../bench/journey/send-paced.ts'
import { type Journey, startJourney, untilApplied } from '../../bench/journey/start-journey.ts'
import { madeTransaction, storeDeposits } from '../../bench/scrape/store-deposits.ts'
import { composeConsole } from '../../src/app/console.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { sealBooks } from '../../src/jobs/books/seal-books.ts'
import { createMetrics } from '../../src/ops/metrics.ts'
import { startOps } from '../../src/ops/server.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { createApiToken } from '../../src/store/api-tokens.ts'
import { countUndecided } from '../../src/store/books/groups.ts'
import { type Database, inTransaction } from '../../src/store/database.ts'
import { readGauges, readTotals, summarise } from '../../src/store/gauges.ts'
import type { Tables } from '../../src/store/tables.ts'
import { pageAt } from '../support/console-reader.ts'
import { judgingEnvironment } from '../support/judging-environment.ts'
import { makeSecret } from '../support/sign-webhook.ts'
import { until } from '../support/until.ts'

/**
 * The same traffic over books of few and of many closed deposits, with equally many a day, equally many open, and equally
 * many with a mismatch. Left out is what checks everything by design, the hourly audit and the check of seals, and sums of the
 * books, which have a row for each account and month.
 */
const [few, many] = [1500, 15_000]
const depositsPerDay = 150
const webhooksEach = 40
/** A connection reads the catalog for its first statements. */
const rounds = ['warm up', 'measured']

/** Blocks per call, and per row: a batch may be of one row or of ten. Several roles may send the same text. */
type Statement = { text: string; role: string; each: number; perRow: number }

/** `read`: rows and index entries of each table. */
type Measured = { statements: Statement[]; read: { table: string; rows: number }[] }

const apiPaths = [
  '/deposits',
  `/deposits?tx=${madeTransaction('pay', 77)}`,
  '/deposits?service_id=dep_77',
  '/deposits?owner=channel-7',
  '/deposits?state=reconciled',
  '/deposits?state=settling',
  '/deposits/77',
  '/mismatches',
  '/balances?limit=100',
  '/trial-balance?limit=100',
  '/services',
  '/networks',
  '/health',
  '/events?after=0&limit=50',
  '/journals/77',
  '/journals/77/proof',
]

const consolePaths = [
  '/',
  '/deposits',
  '/deposits?before=500',
  '/deposits?state=settled',
  '/deposits?owner=nobody',
  '/deposits/77',
  '/mismatches',
  '/mismatches?status=all',
  '/mismatches/causes',
  '/proposals',
  '/ledger',
  '/ledger/journals',
  '/ledger/journals/7',
  '/networks',
  '/addresses',
  '/webhooks',
  '/services',
  '/decisions',
  '/people',
]

test('no statement of the daemon, the console or the API touches more blocks the more deposits are closed', async () => {
  await using stack = new AsyncDisposableStack()
  const ground = await startGround(stack, 'statements')
  const [small, large] = [await run(few), await run(many)]
  const both = large.statements.flatMap((after) => {
    const before = small.statements.find(({ text, role }) => text === after.text && role === after.role)
    return before === undefined ? [] : [{ before, after }]
  })
  expect(both.length).toBeGreaterThan(100)
  expect(both.filter(hasGrown)).toEqual([])
  // A page of an index holds hundreds of entries.
  const readBefore = new Map(small.read.map(({ table, rows }) => [table, rows]))
  const hasReadMore = ({ table, rows }: Measured['read'][number]) =>
    rows > 1.5 * (readBefore.get(table) ?? 0) + few
  expect(large.read.filter(hasReadMore)).toEqual([])

  async function run(deposits: number): Promise<Measured> {
    await using running = new AsyncDisposableStack()
    const database = await ground.database(`closed_${deposits}`)
    const { db } = database
    await sql`create extension pg_stat_statements`.execute(db)
    const made = { deposits, days: deposits / depositsPerDay, open: 100, withMismatch: 60 }
    await storeDeposits(db, made)
    await sealBooks(db, null)
    await sql`vacuum analyze`.execute(db)
    const secret = makeSecret()
    const apiPort = await freePort()
    const environment = { API_HOST: loopback, API_PORT: String(apiPort) }
    const journey = await startJourney(
      ground,
      { database, deposits: rounds.length * webhooksEach, secret, environment },
      running,
    )
    // New rules make every group due.
    await untilDecided(db)
    // By autovacuum otherwise, in one of the two only.
    await sql`analyze`.execute(db)
    const token = await readerToken(db)
    for (const round of rounds.keys()) {
      await sql`select pg_stat_statements_reset(), pg_stat_reset()`.execute(db)
      const webhooks = journey.webhooks.slice(round * webhooksEach, (round + 1) * webhooksEach)
      await claimAll({ ...journey, webhooks }, secret)
      await readTotals(db)
      await summarise(db)
      await readApi(`http://${loopback}:${apiPort}/v1`, token)
      await readConsole(database)
    }
    return { statements: await statementsOf(db), read: await rowsRead(db) }
  }
}, 300_000)

/** By more than planning, which reads the ends of indexes. */
function hasGrown({ before, after }: Record<'before' | 'after', Statement>): boolean {
  return after.each > 1.5 * before.each + 30 && after.perRow > 1.5 * before.perRow + 3
}

/** In several batches, and scraped in between. */
async function claimAll({ db, http, webhooks, settle }: Journey, secret: string): Promise<void> {
  for (let from = 0; from < webhooks.length; from += 10) {
    const some = webhooks.slice(from, from + 10)
    await sendPaced(http.webhookUrl, some, { perSecond: 50, secret, began: settle })
    await untilApplied(db)
    expect((await fetch(http.metricsUrl)).status).toBe(200)
  }
}

async function untilDecided(db: Database<Tables>): Promise<void> {
  await until(
    'groups are decided by the rules of the process',
    async () => ((await countUndecided(db, new Date())).groups === 0 ? true : null),
    120_000,
  )
}

async function readerToken(db: Database<Tables>): Promise<string> {
  const { token } = await inTransaction(db, (tx) =>
    createApiToken(tx, {
      name: 'reader',
      scopes: ['read_deposits', 'read_books'],
      services: null,
      owners: null,
      by: 'ada',
    }),
  )
  return token
}

async function readApi(url: string, token: string): Promise<void> {
  for (const path of apiPaths) {
    const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` } })
    expect(`${path} ${response.status}`).toBe(`${path} 200`)
    await response.text()
  }
}

const current = <Value>(value: Value) => ({ value, ageSeconds: 0 })

async function readConsole({ url, db }: { url: string; db: Database<Tables> }): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const settings = parseSettings(judgingEnvironment(url), () => '')
  const ops = await startOps({ host: loopback, port: 0, metrics: createMetrics('test') })
  stack.defer(() => ops.stop())
  const read = async () => ({
    live: current({ ...(await readGauges(db)), causes: [] }),
    totals: current(await readTotals(db)),
    scorecard: current([]),
    queue: current({}),
  })
  const services = { names: () => ['default'], followed: () => settings }
  const readiness = { checks: [], isNeeded: () => true }
  const shown = stack.use(
    composeConsole(settings, { version: 'test', services, ops, gauges: { read }, readiness }),
  )
  ops.open(shown)
  for (const path of consolePaths)
    expect(`${path} ${(await pageAt(ops.url + path)).status}`).toBe(`${path} 200`)
}

async function statementsOf(db: Database<Tables>): Promise<Statement[]> {
  const { rows } = await sql<Statement>`
    select regexp_replace(query, '\\s+', ' ', 'g') as text, userid::regrole::text as role,
      round((shared_blks_hit + shared_blks_read) / calls)::int as each,
      (shared_blks_hit + shared_blks_read)::float8 / greatest(calls, rows) as "perRow"
    from pg_stat_statements s join pg_database d on d.oid = s.dbid
    where d.datname = current_database() and query !~ 'pg_stat_statements|ledger_turnover|^select number, sealed_table'`.execute(
    db,
  )
  return rows
}

/** Of tables that are not sealed: the check of seals reads those. */
async function rowsRead(db: Database<Tables>): Promise<Measured['read']> {
  // A connection that is idle reports within a second.
  await sleep(1500)
  const { rows } = await sql<Measured['read'][number]>`
    select t.relname as table, (t.seq_tup_read + sum(i.idx_tup_read))::float8 as rows
    from pg_stat_user_tables t join pg_stat_user_indexes i using (relid)
    where t.relname in ('deposit', 'evidence', 'evidence_group', 'event', 'link_key', 'mismatch')
    group by t.relname, t.seq_tup_read order by 1`.execute(db)
  return rows
}

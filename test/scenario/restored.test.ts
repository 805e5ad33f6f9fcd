import { readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startDaemon } from '../../src/app/daemon.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { roles } from '../../src/health.ts'
import { readCheckpoints, type SignedCheckpoint } from '../../src/ledger/checkpoint.ts'
import type { PostgresServer } from '../../src/sandbox/postgres.ts'
import { compareBooks } from '../oracle/compare-books.ts'
import { contradictionsIn } from '../oracle/hold.ts'
import { type ArchivedPostgres, startArchivedPostgres } from '../support/archived-postgres.ts'
import { blocksBelow } from '../support/backup-page.ts'
import { type Ran, runCommand } from '../support/command.ts'
import type { Finding } from '../support/doctor-world.ts'
import { makeFolder } from '../support/make-folder.ts'
import { resendEvents } from '../support/resend-events.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const stack = new AsyncDisposableStack()
const log = pino({ level: 'silent' })
let folder: string
let server: ArchivedPostgres
let world: World
/** Of the server that is lost, and of the one that is restored. */
let lost: Client
let restored: Client
let environment: Record<string, string>
let lostFrom: Date
let published: readonly SignedCheckpoint[]
let lastPublished: bigint
/** What the commands of the page say of the copy, before the daemon is started. */
let verified: Ran
let rebuilt: Ran
let examined: Finding[]

/** What nobody tells is told of soon. */
const policy = { webhookWithin: '5s', apiWithin: '5s', reportWithin: '60s', settlementWithin: '60s' }

beforeAll(async () => {
  folder = makeFolder('depositd-restored-')
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  server = await startArchivedPostgres(folder, log, stack)
  let made = 0
  const makeDatabase = async () => {
    const name = `world_${++made}`
    await server.server.createDatabase(name)
    return { url: server.server.url(name), drop: () => Promise.resolve() }
  }
  world = await startWorld({ networks: ['base', 'solana'], policy, makeDatabase }, stack)
  lost = await connect(world.settings.databaseUrl)
  await payAll(2)
  await server.backUp()
  await payAll(4)
  await command('ledger seal', world.environment)
  lostFrom = await server.archivedUntil()

  await payAll(7)
  await command('ledger seal', world.environment)
  const { out } = await command('ledger checkpoints export', world.environment)
  published = readCheckpoints(out) ?? []
  await writeFile(join(folder, 'published.txt'), out)
  const { rows } = await lost.query<{ last: string }>('select max(id) as last from ledger_journal')
  lastPublished = BigInt(rows[0]?.last ?? 0)
  await world.daemon.stop()
  await restore()
}, 600_000)
afterAll(() => stack.disposeAsync())

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  stack.defer(() => client.end())
  return client
}

async function command(line: string, settings: Record<string, string>): Promise<Ran> {
  const ran = await runCommand(line, settings)
  if (ran.status !== 0) throw new Error(`${line}: ${ran.err}${ran.out}`)
  return ran
}

/** Pays until there are so many deposits, and waits until each is reconciled. */
async function payAll(count: number): Promise<void> {
  const owners = ['shop', 'savings']
  const { rows } = await lost.query(`select from deposit where state <> 'ignored' and merged_into is null`)
  for (let place = rows.length; place < count; place++) {
    const network = world.networks[place % 2]?.name ?? ''
    await world.pay({
      network,
      symbol: 'USDC',
      owner: owners[place % 3 === 0 ? 1 : 0] ?? '',
      amount: `${place + 1}`,
    })
  }
  await untilReconciled(lost, count)
}

function untilReconciled(client: Client, count: number): Promise<true> {
  return until(
    `${count} deposits are reconciled`,
    async () => {
      const { rows } = await client.query(
        `select from deposit where state = 'reconciled' and merged_into is null`,
      )
      const waiting = await client.query('select from inbox_pending')
      return (rows.length >= count && waiting.rows.length === 0) || null
    },
    240_000,
  )
}

function booksOn(copy: PostgresServer): string {
  return copy.url(new URL(world.settings.databaseUrl).pathname.slice(1))
}

async function connectRecovered(url: string): Promise<Client> {
  const client = await connect(url)
  await until('the server is out of its recovery', async () => {
    const { rows } = await client.query('select pg_is_in_recovery() as recovers')
    return rows[0]?.recovers === false || null
  })
  return client
}

/** As docs/operations.md says it, from the restored server to the daemon. */
async function restore(): Promise<void> {
  const url = booksOn(await server.restore(lostFrom))
  environment = { ...world.environment, DATABASE_URL: url }
  restored = await connectRecovered(url)
  const [, checks = '', , numbering = ''] = blocksBelow('Restore to a point in time')
  const lines = checks.replace('published.txt', join(folder, 'published.txt')).trimEnd().split('\n')
  const [verifying = '', rebuilding = '', doctoring = ''] = lines.map((line) =>
    line.replace('bin/depositd ', ''),
  )
  verified = await runCommand(verifying, environment)
  rebuilt = await runCommand(rebuilding, environment)
  const { out } = await runCommand(`${doctoring} --json`, environment)
  examined = (JSON.parse(out) as { checks: Finding[] }).checks
  const [, statement = ''] = /-c "(.*)"/.exec(numbering) ?? []
  await restored.query(statement)
}

test('a copy as of a moment holds what was known then, and is whole', async () => {
  const { rows } = await restored.query(`select from deposit where state = 'reconciled'`)
  expect(rows).toHaveLength(4)
  expect(rebuilt).toMatchObject({ status: 0 })
})

test('nothing is wrong with it, but that nobody works on it', () => {
  const idle = ['inbox', 'scheduler', 'worker', 'poll', ...world.networks.map(({ name }) => `scan/${name}`)]
  const wrong = examined.filter(({ state }) => state === 'fault')
  expect(examined.map(({ check }) => check)).toEqual(expect.arrayContaining(['grants', 'seals', ...idle]))
  expect(wrong.filter(({ check }) => !idle.includes(check))).toEqual([])
})

test('that it lacks what was published is named by its checkpoints', () => {
  expect(verified.status).toBe(1)
  expect(verified.out).toContain(
    `checkpoint ${published.at(-1)?.size} was published, and the log ends at row`,
  )
  expect(verified.out).toMatch(/the log matches the published checkpoints up to row \d+ and differs after it/)
})

test('the daemon finds what is missing, and the books end as those that were never lost', {
  timeout: 600_000,
}, async () => {
  const daemon = await startDaemon(
    parseSettings(environment, (path) => readFileSync(path, 'utf8')),
    { roles, version: 'test', log },
  )
  stack.defer(() => daemon.stop())
  // The chains and the list of the service tell of the payments, and nobody of their webhooks.
  await until('what was not told by webhook is named', webhooksMissing, 240_000)
  expect(await booksOf(restored)).toEqual(await booksOf(lost))

  // From a little before the moment of the copy on.
  await resendEvents(world, new Date(lostFrom.getTime() - 60_000))
  await untilReconciled(restored, 7)
  await until(
    'both are the same',
    async () => (await compareBooks(restored, lost)).length === 0 || null,
    60_000,
  ).catch(async () => expect(await compareBooks(restored, lost)).toEqual([]))
  const networks = world.networks.map(({ name, rpcUrls }) => ({ name, url: rpcUrls[0] ?? '' }))
  const facts = {
    databaseUrl: environment.DATABASE_URL ?? '',
    serviceDatabaseUrl: world.serviceDatabaseUrl,
    networks,
  }
  expect(await contradictionsIn(facts, 60_000)).toEqual([])
})

async function webhooksMissing(): Promise<true | null> {
  const { rows } = await restored.query(
    `select from mismatch where kind = 'webhook_missing' and cleared_at is null and deposit_id is not null`,
  )
  return rows.length >= 3 || null
}

/** What stands, by what is never given twice. */
async function booksOf(client: Client): Promise<unknown[]> {
  const { rows } = await client.query(`
    select journal.posting_key, debit, credit, asset, amount::text, journal.event_at
    from ledger_journal as journal join ledger_transfer on journal_id = journal.id
    order by posting_key, leg`)
  return rows
}

test('what is sealed from then on parts from what was published, and no number means two journals', async () => {
  await command('ledger seal', environment)
  const against = await runCommand(`ledger verify --against ${join(folder, 'published.txt')}`, environment)
  expect(against.status).toBe(1)
  const [, size = ''] = /published checkpoints up to row (\d+) and/.exec(against.out) ?? []
  expect(Number(size)).toBeGreaterThan(0)

  const kept = published.filter((one) => one.size <= Number(size)).map(({ body }) => `${body}\n`)
  await writeFile(join(folder, 'kept.txt'), kept.join(''))
  const whole = await runCommand(`ledger verify --against ${join(folder, 'kept.txt')}`, environment)
  expect(whole.out).toMatch(/the books are correct/)

  const { rows } = await restored.query(`select id from ledger_journal where id <= $1 and recorded_at > $2`, [
    lastPublished,
    lostFrom,
  ])
  expect(rows).toEqual([])
})

test('with what the lost server had not archived yet nothing is lost', async () => {
  await lost.query('create table last_word (word text)')
  await lost.query(`insert into last_word values ('kept')`)
  const books = await booksOf(lost)
  const whole = await connectRecovered(booksOn(await server.restoreAll()))
  expect((await whole.query('select word from last_word')).rows).toEqual([{ word: 'kept' }])
  expect(await booksOf(whole)).toEqual(books)
})

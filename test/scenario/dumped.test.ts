import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startDaemon } from '../../src/app/daemon.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { roles } from '../../src/health.ts'
import { type PostgresServer, startPostgres } from '../../src/sandbox/postgres.ts'
import { compareBooks } from '../oracle/compare-books.ts'
import { blocksBelow, runLines, writeServices } from '../support/backup-page.ts'
import { runCommand } from '../support/command.ts'
import type { Finding } from '../support/doctor-world.ts'
import { makeFolder } from '../support/make-folder.ts'
import { run } from '../support/postgres.ts'
import { isInstalled } from '../support/programs-needed.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const log = pino({ level: 'silent' })
const password = randomBytes(12).toString('hex')

function as(url: string, user: string): string {
  const own = new URL(url)
  own.username = user
  own.password = password
  return own.href
}

/**
 * The lines of docs/operations.md: a dump by a user who only reads, restored on an empty server, which knows none of
 * the roles, as an owner who is called otherwise.
 */
describe.runIf(isInstalled('pg_dump') && isInstalled('psql'))('a dump', () => {
  const stack = new AsyncDisposableStack()
  let world: World
  let dumped: Client
  let restored: Client
  /** Of who owns everything there, and of the daemon. */
  let owner: string
  let environment: Record<string, string>
  /** How much was known of the groups of evidence as soon as it was restored. */
  let planned: number | null

  beforeAll(async () => {
    const folder = makeFolder('depositd-dumped-')
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const [source, target] = [await server(join(folder, 'source')), await server(join(folder, 'target'))]
    await run(source.url('postgres'), `create role keeper login createrole password '${password}'`)
    let made = 0
    const makeDatabase = async () => {
      const name = `books${made++}`
      await run(source.url('postgres'), `create database ${name} owner keeper`)
      return { url: as(source.url(name), 'keeper'), drop: () => Promise.resolve() }
    }
    world = await startWorld({ networks: ['base'], makeDatabase }, stack)
    const books = world.settings.databaseUrl
    dumped = await connect(books)
    await payUntil(2)

    owner = as(target.url('depositd'), 'depositd_owner')
    const work = join(folder, 'work')
    mkdirSync(work)
    writeServices(work, {
      owner: books,
      dump: as(books, 'depositd_dump'),
      new_superuser: target.url('postgres'),
      new_owner: owner,
    })
    const [dump = '', restore = '', ...others] = blocksBelow('`pg_dump`')
    expect(others).toEqual([])
    await runLines(dump, work, password)
    await payUntil(4)
    await world.daemon.stop()
    await runLines(restore, work, password)
    await run(owner, `create role runner login password '${password}' in role depositd_daemon`)
    environment = { ...world.environment, DATABASE_URL: as(owner, 'runner') }
    restored = await connect(owner)
    const { rowCount } = await restored.query(`
      select from pg_stats where tablename = 'evidence' and attname = 'group_id'`)
    planned = rowCount
  })
  afterAll(() => stack.disposeAsync())

  async function server(folder: string): Promise<PostgresServer> {
    const started = await startPostgres({ folder, durability: 'none', log })
    stack.defer(() => started.stop())
    return started
  }

  async function connect(url: string): Promise<Client> {
    const client = new Client({ connectionString: url })
    await client.connect()
    stack.defer(() => client.end())
    return client
  }

  async function payUntil(count: number): Promise<void> {
    for (let place = await reconciled(dumped); place < count; place++) {
      await world.pay({ network: 'base', symbol: 'USDC', owner: 'savings', amount: `${place + 1}` })
    }
    await untilReconciled(dumped, count)
  }

  test('holds all that was known when it began, and verifies', async () => {
    expect(await reconciled(restored)).toBe(2)
    const rebuilt = await runCommand('rebuild --verify', environment)
    expect(rebuilt, rebuilt.out + rebuilt.err).toMatchObject({ status: 0 })
    const verified = await runCommand('ledger verify', environment)
    expect(verified, verified.out + verified.err).toMatchObject({ status: 0 })
  })

  test('says how batches are to be looked up, before anything was analyzed on the new server', () => {
    expect(planned).toBe(1)
  })

  test('is at the schema of the program, with all the rights, also on what is made later', async () => {
    expect(await runCommand('migrate', { ...environment, DATABASE_URL: owner })).toMatchObject({
      status: 0,
      out: 'the schema is already up to date\n',
    })
    const states = ['schema ok', 'grants ok', 'partitions ok']
    expect(await doctor(environment)).toEqual(['rights ok', ...states])
    // A start works as depositd_daemon, whoever logs in: of an owner it warns.
    expect(await doctor({ ...environment, DATABASE_URL: owner })).toEqual(['rights warning', ...states])
    await restored.query('create table later (id bigint generated always as identity)')
    const { rows } = await restored.query(`
      select has_table_privilege('depositd_backup', 'later', 'SELECT') as reads,
        has_sequence_privilege('depositd_backup', 'later_id_seq', 'SELECT') as counts,
        has_table_privilege('depositd_backup', 'later', 'INSERT') as writes`)
    await restored.query('drop table later')
    expect(rows).toEqual([{ reads: true, counts: true, writes: false }])
  })

  test('keeps what holds the books: nobody changes them there, the owner neither', async () => {
    await expect(restored.query('update ledger_transfer set amount = amount + 1')).rejects.toThrow(
      /append-only/,
    )
    await expect(restored.query('truncate ledger_journal cascade')).rejects.toThrow(/append-only/)
  })

  test('lacks what came later, which the daemon reads again from the service and the chain', async () => {
    const daemon = await startDaemon(
      parseSettings(environment, (path) => readFileSync(path, 'utf8')),
      { roles, version: 'test', log },
    )
    stack.defer(() => daemon.stop())
    await untilReconciled(restored, 4)
    const journals = 'select posting_key, event_at, period from ledger_journal order by posting_key'
    expect((await restored.query(journals)).rows).toEqual((await dumped.query(journals)).rows)
    const differences = await compareBooks(restored, dumped)
    expect(differences.filter((line) => !/webhook/i.test(line))).toEqual([])
  })
})

async function doctor(environment: Record<string, string>): Promise<string[]> {
  const { out } = await runCommand('doctor --json', environment)
  return (JSON.parse(out) as { checks: Finding[] }).checks
    .filter(({ check }) => ['rights', 'schema', 'grants', 'partitions'].includes(check))
    .map(({ check, state }) => `${check} ${state}`)
}

async function reconciled(client: Client): Promise<number> {
  const { rows } = await client.query(
    `select from deposit where state = 'reconciled' and merged_into is null`,
  )
  return rows.length
}

async function untilReconciled(client: Client, count: number): Promise<void> {
  await until(
    `${count} deposits are reconciled`,
    async () => (await reconciled(client)) >= count || null,
    120_000,
  )
}

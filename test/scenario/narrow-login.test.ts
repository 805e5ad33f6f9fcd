import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type PostgresServer, startPostgres } from '../../src/sandbox/postgres.ts'
import { runCommand } from '../support/command.ts'
import type { Finding } from '../support/doctor-world.ts'
import { spawnProgram } from '../support/embedded-program.ts'
import { makeFolder } from '../support/make-folder.ts'
import { run, type TestDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const withinMs = 120_000

const stack = new AsyncDisposableStack()
let server: PostgresServer
let world: World
let folder: string
/** As the daemon should be started: by a login that owns nothing. */
let narrow: Record<string, string>

/** On a server of its own, whose owner of the books is no superuser: the queue is in the same database. */
beforeAll(async () => {
  folder = makeFolder('depositd-narrow-')
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const log = pino({ level: 'silent' })
  server = await startPostgres({ folder: join(folder, 'postgres'), durability: 'none', log })
  stack.defer(() => server.stop())
  await asSuperuser(`create role keeper login createrole password 'k'`)
  world = await startWorld({ networks: ['base', 'arbitrum'], makeDatabase }, stack)
  await world.daemon.stop()
  await asOwner(`create role runner login password 'r'; grant depositd_daemon to runner`)
  narrow = { ...world.environment, DATABASE_URL: as('runner', 'r') }
})
afterAll(() => stack.disposeAsync())

let made = 0

async function makeDatabase(): Promise<TestDatabase> {
  const name = `books${made++}`
  await asSuperuser(`create database ${name} owner keeper`)
  const url = new URL(server.url(name))
  url.username = 'keeper'
  url.password = 'k'
  return { url: url.href, drop: () => Promise.resolve() }
}

async function asSuperuser(text: string): Promise<void> {
  await run(server.url('postgres'), text)
}

const ownerUrl = () => world.environment.DATABASE_URL ?? ''
const asOwner = (text: string) => run(ownerUrl(), text)

function as(user: string, password: string): string {
  const url = new URL(ownerUrl())
  url.username = user
  url.password = password
  return url.href
}

async function isReady(): Promise<true | null> {
  const answer = await fetch(`http://127.0.0.1:${world.settings.ops.port}/readyz`).catch(() => null)
  return answer?.status === 200 || null
}

async function partitions(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relname ~ '^ledger_transfer_[0-9]{6}$' order by relname desc`.execute(
    world.db,
  )
  return rows.map(({ name }) => name)
}

test('the whole daemon runs by a login that owns nothing, and makes the months to come', async () => {
  const [last = ''] = await partitions()
  await asOwner(`drop table ${last}`)
  const program = spawnProgram(folder, ['start'], narrow)
  stack.defer(() => program.end('SIGKILL').then(() => undefined))
  await until('it is ready', isReady, withinMs)
  const tx = await world.pay({ network: 'base', symbol: 'USDC', owner: 'savings', amount: '5' })
  await until(
    'the deposit is reconciled',
    async () => {
      const row = await world.db.selectFrom('deposit').select('state').where('tx', '=', tx).executeTakeFirst()
      return row?.state === 'reconciled' || null
    },
    withinMs,
  )
  expect(await partitions()).toContain(last)
  const { out } = await runCommand('doctor --json', narrow)
  const { checks: findings } = JSON.parse(out) as { checks: Finding[] }
  expect(findings.filter(({ state }) => state === 'fault')).toEqual([])
  expect(findings.find(({ check }) => check === 'rights')).toMatchObject({
    state: 'ok',
    says: 'runner acts as depositd_daemon, and cannot change journals',
  })
  const { rows } = await sql<{ usename: string }>`
    select distinct usename from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
      and application_name like 'depositd%'`.execute(world.db)
  expect(rows).toEqual([{ usename: 'runner' }])
  // Whoever lists the processes of this machine reads their arguments, those of the nodes and of Postgres included.
  const listed = execFileSync('ps', ['-ww', '-eo', 'args'], { encoding: 'utf8' })
  const { SERVICE_API_KEY = '', WEBHOOK_SECRETS = '' } = world.environment
  for (const secret of [SERVICE_API_KEY, WEBHOOK_SECRETS, new URL(server.url('postgres')).password]) {
    expect(secret.length).toBeGreaterThan(8)
    expect(listed).not.toContain(secret)
  }
  expect(await program.end('SIGTERM')).toBe(0)
})

test.each([
  'rebuild --verify',
  'ledger verify',
  'ledger trial-balance',
  'ledger seal',
  'mismatches list',
  'deposits list',
  'replay',
  'migrate',
])('so do the commands of people: %s', async (line) => {
  expect(await runCommand(line, narrow)).toMatchObject({
    status: 0,
    err: expect.not.stringMatching(/denied|depositd:/) as string,
  })
})

test.each([
  'delete from ledger_journal',
  'update ledger_transfer set amount = 1',
  'truncate checkpoint',
  'alter table ledger_transfer disable trigger all',
  'update inbox set body = null',
  'update kysely_migration set name = name',
  'set role keeper',
  'create table public.mine (id integer)',
  'create schema mine',
  'create role mine',
  'grant depositd_daemon to depositd_accountant',
  `update asset set network = 'base'`,
  'update asset set decimals = 2',
  'create temp table mine (like ledger_period_event); create trigger mine before insert on mine for each row execute function hold_period_event()',
  'select guard_ledger_transfers(0)',
  'drop schema bullmq cascade',
  'delete from bullmq.migration',
  `copy (select 1) to program 'true'`,
  'set session_replication_role = replica',
  `alter function refuse_change() owner to runner`,
])('nor does it help who took it over to drop the role: %s', async (statement) => {
  await expect(run(narrow.DATABASE_URL ?? '', `reset role; ${statement}`)).rejects.toThrow(
    /permission denied|must be owner|must be able to SET ROLE|only roles|stored amounts have/i,
  )
})

test('where the schema is behind it says who has to do what, and starts once that was done', async () => {
  await asOwner(
    `create table held as select * from kysely_migration order by name desc limit 1;
     delete from kysely_migration where name = (select name from held)`,
  )
  const expected =
    /the schema of the database: it is at 00\d\d_\w+, this version needs 00\d\d_\w+, and runner may not migrate it: run "bin\/depositd migrate" with the DATABASE_URL of the owner first, and grant depositd_daemon to runner/
  const program = spawnProgram(folder, ['start'], narrow)
  expect(await program.ended).toBe(4)
  expect(program.output()).toMatch(expected)
  const migrating = await runCommand('migrate', narrow)
  expect(migrating).toMatchObject({ status: 4, out: '' })
  expect(migrating.err).toMatch(expected)
  await asOwner(`insert into kysely_migration select * from held; drop table held`)
  const mended = spawnProgram(folder, ['start'], narrow)
  stack.defer(() => mended.end('SIGKILL').then(() => undefined))
  await until('it is ready', isReady, withinMs)
  expect(await mended.end('SIGTERM')).toBe(0)
})

test('a login that is no member of the role is told what to grant', async () => {
  await asOwner(`create role stranger login password 's'`)
  const environment = { ...narrow, DATABASE_URL: as('stranger', 's') }
  const program = spawnProgram(folder, ['start'], environment)
  expect(await program.ended).toBe(4)
  expect(program.output()).toMatch(/stranger cannot read its version, .* grant depositd_daemon to stranger/)
  await asOwner(`grant depositd_backup to stranger`)
  const again = spawnProgram(folder, ['start'], environment)
  expect(await again.ended).toBe(4)
  expect(again.output()).toContain('as the owner: grant depositd_daemon to "stranger"')
})

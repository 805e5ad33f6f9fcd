import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Client } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { roles, startDaemon } from '../../src/app.ts'
import { parseSettings } from '../../src/config/settings.ts'
import { compareBooks } from '../oracle/compare-books.ts'
import { runCommand } from '../support/command.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { isInstalled } from '../support/programs-needed.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const run = promisify(execFile)

/** As docs/operations.md says it: a dump by a user who only reads, restored by one who owns everything then. */
describe.runIf(isInstalled('pg_dump'))('a dump', () => {
  const stack = new AsyncDisposableStack()
  const dumper = `dumper_${randomBytes(6).toString('hex')}`
  let world: World
  let dumped: Client
  let restored: Client
  let environment: Record<string, string>

  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'depositd-dumped-'))
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    world = await startWorld({ networks: ['base'] }, stack)
    dumped = await connect(world.settings.databaseUrl)
    await payUntil(2)
    const file = join(folder, 'depositd.dump')
    await run('pg_dump', [`--dbname=${await dumperUrl()}`, '--format=custom', `--file=${file}`])
    await payUntil(4)
    await world.daemon.stop()

    const copy = await emptyDatabase()
    stack.defer(() => copy.drop())
    const how = ['--no-owner', '--exit-on-error', '--single-transaction']
    await run('pg_restore', [`--dbname=${copy.url}`, ...how, file])
    environment = { ...world.environment, DATABASE_URL: copy.url }
    restored = await connect(copy.url)
  })
  afterAll(() => stack.disposeAsync())

  async function connect(url: string): Promise<Client> {
    const client = new Client({ connectionString: url })
    await client.connect()
    stack.defer(() => client.end())
    return client
  }

  /** Of a login that reads everything and writes nothing. */
  async function dumperUrl(): Promise<string> {
    await dumped.query(`create role ${dumper} login password '${dumper}' in role depositd_backup`)
    stack.defer(async () => {
      await dumped.query(`drop role ${dumper}`)
    })
    const url = new URL(world.settings.databaseUrl)
    url.username = dumper
    url.password = dumper
    return url.href
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

  test('keeps what holds the books: nobody changes them there, the owner neither', async () => {
    await expect(restored.query('update ledger_transfer set amount = amount + 1')).rejects.toThrow(
      /append-only/,
    )
    await expect(restored.query('truncate ledger_journal cascade')).rejects.toThrow(/append-only/)
  })

  test('lacks what came later, which the daemon reads again from the service and the chain', async () => {
    const daemon = await startDaemon(
      parseSettings(environment, (path) => readFileSync(path, 'utf8')),
      { roles, version: 'test', log: pino({ level: 'silent' }) },
    )
    stack.defer(() => daemon.stop())
    await untilReconciled(restored, 4)
    const journals = 'select posting_key, event_at, period from ledger_journal order by posting_key'
    expect((await restored.query(journals)).rows).toEqual((await dumped.query(journals)).rows)
    const differences = await compareBooks(restored, dumped)
    expect(differences.filter((line) => !/webhook/i.test(line))).toEqual([])
  })
})

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

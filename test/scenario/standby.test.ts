import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../../src/sandbox/free-port.ts'
import { startPostgres } from '../../src/sandbox/postgres.ts'
import { runCommand } from '../support/command.ts'
import { spawnProgram } from '../support/embedded-program.ts'
import { temporaryFolderOfFile } from '../support/folder.ts'
import { isInStep, startStandby } from '../support/standby.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const withinMs = 180_000
const sections = () => ({ schedule: { seal: '*/2 * * * * *' } })

const stack = new AsyncDisposableStack()
const folder = temporaryFolderOfFile()
let world: World
let primary: Client
let standby: Client
let accountant: Client
/** Settings by which the program works on the standby as its owner, or as an accountant. */
let asOwner: Record<string, string>
let asAccountant: Record<string, string>

beforeAll(async () => {
  const first = join(folder, 'first')
  const server = await startPostgres({ folder: first, log: pino({ level: 'warn' }) })
  stack.defer(() => server.stop())
  let made = 0
  const makeDatabase = async () => {
    const name = `books${made++}`
    await server.createDatabase(name)
    return { url: server.url(name), drop: () => Promise.resolve() }
  }
  world = await startWorld({ networks: ['base', 'arbitrum'], makeDatabase, sections }, stack)
  primary = await connect(server.url('books0'))
  await primary.query(`create role erin login password 'books'; grant depositd_accountant to erin`)
  const follower = await startStandby(server.url('postgres'), first, join(folder, 'second'))
  stack.defer(() => follower.stop())
  const url = follower.url('books0')
  standby = await connect(url)
  const read = new URL(url)
  read.username = 'erin'
  read.password = 'books'
  accountant = await connect(read.href)
  asOwner = { ...world.environment, DATABASE_URL: url }
  asAccountant = { DATABASE_URL: read.href }
  for (const amount of ['5', '7']) await payAndSettle(amount)
  await until('what was booked is sealed', isSealed, withinMs)
  await untilInStep()
})
afterAll(() => stack.disposeAsync())

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  stack.defer(() => client.end())
  return client
}

async function payAndSettle(amount: string): Promise<string> {
  const tx = await world.pay({ network: 'base', symbol: 'USDC', owner: 'savings', amount })
  await until(
    'the deposit is reconciled',
    async () => {
      const { rows } = await primary.query(`select from deposit where tx = $1 and state = 'reconciled'`, [tx])
      return rows.length > 0 || null
    },
    withinMs,
  )
  return tx
}

async function isSealed(): Promise<true | null> {
  const { rows } = await primary.query('select from seal limit 1')
  return rows.length > 0 || null
}

const untilInStep = () => until('the standby has it', () => isInStep(primary, standby), withinMs)

describe('a streaming standby', () => {
  test('shows a deposit that was booked after it was made', async () => {
    const { rows: state } = await standby.query('select pg_is_in_recovery() as "isStandby"')
    expect(state).toEqual([{ isStandby: true }])
    const tx = await payAndSettle('9')
    await untilInStep()
    const { rows } = await accountant.query('select state from accounting.deposits where tx = $1', [tx])
    expect(rows).toEqual([{ state: 'reconciled' }])
  })

  test('answers an accountant with every view, as the first server does', async () => {
    const { rows: views } = await primary.query<{ name: string }>(
      `select viewname as name from pg_views where schemaname = 'accounting' order by 1`,
    )
    expect(views.length).toBeGreaterThan(10)
    for (const { name } of views) {
      const counted = `select count(*) from accounting.${name}`
      const [here, there] = [await primary.query(counted), await accountant.query(counted)]
      expect(there.rows, name).toEqual(here.rows)
    }
  })

  test('answers an accountant with every function', async () => {
    const { rows: functions } = await primary.query<{ name: string; types: string[] }>(`
      select proname as name, coalesce(array_agg(format_type(t.type, null) order by t.place)
        filter (where t.type is not null and t.place <= pronargs - pronargdefaults), '{}') as types
      from pg_proc left join unnest(proargtypes::oid[]) with ordinality as t (type, place) on true
      where pronamespace = 'accounting'::regnamespace group by pg_proc.oid, proname order by 1`)
    expect(functions.length).toBeGreaterThan(3)
    const values: Record<string, string> = {
      text: `'savings'`,
      date: 'date_trunc($$month$$, now())::date',
      'timestamp with time zone': 'now()',
      numeric: '1',
      integer: '6',
      smallint: '6::smallint',
      bigint: '1',
    }
    for (const { name, types } of functions) {
      const given = types.map((type) => `${values[type] ?? 'null'}::${type}`)
      const asked = accountant.query(`select * from accounting.${name}(${given.join(', ')})`)
      await expect(asked, name).resolves.toBeDefined()
    }
  })

  test.each([
    'deposits list',
    'mismatches list',
    'ledger balances',
    'ledger trial-balance',
    'ledger verify',
    'ledger journal list',
    'ledger statement savings',
    'doctor --json',
  ])('is read by the command "%s"', async (line) => {
    const { status, out, err } = await runCommand(line, asOwner)
    if (line.startsWith('doctor')) expect(out).toContain('standby')
    else expect(status, err).toBe(0)
  })

  test.each(['ledger verify', 'ledger balances'])('is read by an accountant with "%s"', async (line) => {
    const { status, err } = await runCommand(line, asAccountant)
    expect(status, err).toBe(0)
  })

  test('is exported from, by an accountant', async () => {
    const { status, err } = await runCommand(
      `ledger export --format csv --out ${join(folder, 'export')}`,
      asAccountant,
    )
    expect(status, err).toBe(0)
  })

  test('is refused by a daemon and by whatever writes, in words that say why', async () => {
    const ports = { HTTP_PORT: String(await freePort()), OPS_PORT: String(await freePort()) }
    const daemon = spawnProgram(folder, ['start'], { ...asOwner, ...ports })
    expect(await daemon.ended).not.toBe(0)
    expect(daemon.output()).toContain('rejects writes: it is a standby or read-only')
    const migrating = await runCommand('migrate', asOwner)
    expect(migrating.status).not.toBe(0)
    expect(migrating.err).toContain('rejects writes: it is a standby or read-only')
    const file = join(folder, 'channels.csv')
    const recipient = `0x${'0'.repeat(38)}ff`
    writeFileSync(
      file,
      `id,network,address,forward_network,forward_asset,forward_recipient\nother,base,0x${'0'.repeat(38)}a1,arbitrum,USDC,${recipient}\n`,
    )
    const importing = await runCommand(`channels import ${file}`, asOwner)
    expect(importing.err).toContain('rejects writes: it is a standby or read-only')
  })
})

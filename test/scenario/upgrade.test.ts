import { randomBytes } from 'node:crypto'
import { copyFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { openDatabase } from '../../src/store/database.ts'
import { migrate, migrationsFolder } from '../../src/store/migrate.ts'

import { contradictionsIn } from '../oracle/hold.ts'
import { type EmbeddedProgram, ownMain, spawnProgram } from '../support/embedded-program.ts'
import { temporaryFolder, temporaryFolderOfFile } from '../support/folder.ts'
import { newerProgram, nextMigration } from '../support/newer-program.ts'
import { emptyDatabase } from '../support/postgres.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const withinMs = 180_000

type Running = { program: EmbeddedProgram; ops: string }

const stack = new AsyncDisposableStack()
const running: Running[] = []
const folder = temporaryFolderOfFile()
let world: World
let newerMain: string
let environment: Record<string, string>
let observer: Client
const paid: string[] = []

beforeAll(async () => {
  newerMain = await newerProgram(join(folder, 'newer'))
  world = await startWorld({ networks: ['base', 'arbitrum'] }, stack)
  await world.daemon.stop()
  const database = await emptyDatabase()
  stack.defer(() => database.drop())
  environment = { ...world.environment, DATABASE_URL: database.url }
  observer = new Client({ connectionString: database.url })
  await observer.connect()
  stack.defer(() => observer.end())
})
afterAll(async () => {
  for (const { program } of running) await program.end('SIGKILL')
  await stack.disposeAsync()
})

/** With the port that the service sends to, or another. */
async function start(main: string, port?: string): Promise<Running> {
  const ports = { HTTP_PORT: port ?? String(await freePort()), OPS_PORT: String(await freePort()) }
  const program = spawnProgram({ folder, main }, ['start'], { ...environment, ...ports })
  const one = { program, ops: `http://${loopback}:${ports.OPS_PORT}` }
  running.push(one)
  await until('it is ready', async () => ((await readiness(one))?.ready ? true : null), withinMs)
  return one
}

type Answer = { ready: boolean; warnings: { part: string; problem: string }[] }

async function readiness({ program, ops }: Running): Promise<Answer | null> {
  if (program.output().includes('\ndepositd: ')) throw new Error(program.output())
  const answer = await fetch(`${ops}/readyz`).catch(() => null)
  return answer && ((await answer.json()) as Answer)
}

async function run(...words: string[]): Promise<string> {
  const program = spawnProgram(folder, words, environment)
  expect(await program.ended, program.output()).toBe(0)
  return program.output()
}

async function pay(count: number): Promise<void> {
  for (let place = 0; place < count; place++) {
    const network = place % 2 === 0 ? 'base' : 'arbitrum'
    paid.push(await world.pay({ network, symbol: 'USDC', owner: 'savings', amount: String(1 + paid.length) }))
  }
}

const untilReconciled = () =>
  until(
    'every deposit is reconciled',
    async () => {
      const { rows } = await observer.query<{ count: string }>(
        `select count(*) from deposit where state = 'reconciled' and tx = any($1)`,
        [paid],
      )
      return Number(rows[0]?.count) === paid.length || null
    },
    withinMs,
  )

const schemaOf = async () =>
  (await observer.query<{ name: string }>('select max(name) as name from kysely_migration')).rows[0]?.name

/** As the files of a version that is not written yet. */
async function migrateFurther(name: string, text: string): Promise<void> {
  const further = await temporaryFolder()
  for (const file of readdirSync(migrationsFolder))
    copyFileSync(join(migrationsFolder, file), join(further, file))
  for (const [file, content] of [...made, [`${name}.sql`, text] as const])
    writeFileSync(join(further, file), content)
  made.push([`${name}.sql`, text])
  const db = openDatabase({ url: environment.DATABASE_URL ?? '', poolMax: 2, applicationName: 'test' })
  await migrate(db, further)
  await db.destroy()
}
const made: (readonly [string, string])[] = [[`${nextMigration.name}.sql`, nextMigration.text]]

describe('two versions side by side', () => {
  test('this one works on while a newer one starts beside it and migrates, and either is enough', async () => {
    const port = environment.HTTP_PORT
    const old = await start(ownMain, port)
    const before = await schemaOf()
    const name = world.settings.people.signingKey?.signer.name ?? ''
    await run('people', 'add', name, '--roles', 'administrator,operator')
    for (const owners of ['channels', 'wallets']) {
      const file = join(folder, `${owners}.json`)
      writeFileSync(file, await run(owners, 'list', '--remote', '--json'))
      await run(owners, 'import', file)
    }
    await pay(4)
    await untilReconciled()
    const paying = pay(16)
    const beside = await start(newerMain)
    await paying
    await untilReconciled()
    expect((await schemaOf())?.localeCompare(before ?? '')).toBe(1)
    expect(await readiness(old)).toMatchObject({ ready: true, warnings: [{ part: 'schema' }] })
    expect(await beside.program.end('SIGTERM')).toBe(0)
    await pay(4)
    await untilReconciled()
    expect(await old.program.end('SIGTERM')).toBe(0)
    await start(ownMain, port)
    await pay(4)
    await untilReconciled()
    expect(old.program.output()).not.toContain('"level":50')
  }, 600_000)

  test('this version works on, and starts again, on the schema of one that only added to it', async () => {
    const paying = pay(6)
    await migrateFurther(
      '9998_newer',
      `alter table deposit add column mood text not null default 'calm';
       create table mood (deposit_id bigint primary key references deposit (id), mood text not null);
       create index deposit_mood on deposit (mood)`,
    )
    await paying
    await untilReconciled()
    await running.at(-1)?.program.end('SIGKILL')
    const again = await start(ownMain, environment.HTTP_PORT)
    await pay(4)
    await untilReconciled()
    const { warnings = [] } = (await readiness(again)) ?? {}
    expect(warnings).toMatchObject([
      { part: 'schema', problem: expect.stringContaining('from a newer version') },
    ])
  }, 600_000)

  test('the books hold against the chains and the service', async () => {
    const networks = world.networks.map(({ name, rpcUrls }) => ({ name, url: rpcUrls[0] ?? '' }))
    const { serviceDatabaseUrl } = world
    const facts = { databaseUrl: environment.DATABASE_URL ?? '', serviceDatabaseUrl, networks }
    expect(await contradictionsIn(facts)).toEqual([])
  })

  test('where a newer one took away what it used, this version works on and says so, and does not start again', async () => {
    await migrateFurther('9999_newer_contract', 'alter table deposit drop column mood')
    const last = running.at(-1)
    const problem = expect.stringContaining('9999_newer_contract removed something that it uses') as string
    expect(last && (await readiness(last))).toMatchObject({
      ready: true,
      warnings: [{ part: 'schema', problem }],
    })
    await last?.program.end('SIGTERM')
    for (const login of [{}, { DATABASE_URL: await narrowUrl() }]) {
      const refused = spawnProgram(folder, ['start'], { ...environment, ...login })
      expect(await refused.ended).not.toBe(0)
      expect(refused.output()).toContain(
        'migration 9999_newer_contract of a newer version removed tables or columns that this version uses',
      )
    }
  })
})

/** Of a login that owns nothing. */
async function narrowUrl(): Promise<string> {
  const runner = `runner_${randomBytes(6).toString('hex')}`
  await observer.query(`create role ${runner} login password '${runner}' in role depositd_daemon`)
  stack.defer(async () => {
    await observer.query(`drop role ${runner}`)
  })
  const url = new URL(environment.DATABASE_URL ?? '')
  url.username = runner
  url.password = runner
  return url.href
}

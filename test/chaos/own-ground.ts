import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { Client, escapeIdentifier } from 'pg'
import { freePort } from '../../src/sandbox/free-port.ts'
import { openDatabase } from '../../src/store/database.ts'
import { makePartitions } from '../../src/store/ledger/maintenance.ts'
import { migrate, migrationsFolder } from '../../src/store/migrate.ts'
import type { Tables } from '../../src/store/tables.ts'
import { keepChanges, keepStanding } from '../oracle/hold.ts'
import { spawnProgram } from '../support/embedded-program.ts'
import {
  type Credited,
  type Reported,
  saveDepositor,
  startCreditingService,
  writeReportedSettings,
} from '../support/reported-networks.ts'
import { until } from '../support/until.ts'
import { scrape } from './hostile/scrape.ts'
import { recordProcess } from './leftover.ts'
import type { Living, Printing } from './liveness.ts'
import { untilSame } from './until-same.ts'
import type { ChaosWorld } from './world.ts'

/** Another database of the queue's server than that of the shared world. */
const redisDatabase = 9

export type OwnProcess = {
  readonly pid: number
  readonly opsUrl: string
  /** Everything it has printed. */
  output: () => string
}

/**
 * A daemon of its own as processes, one of `http` and one of `worker,scheduler`, over chains that a fault mines, on a
 * database and a queue of the shared world's servers; its service is a list. What is lost here is lost to nobody.
 */
export type OwnGround = {
  readonly databaseUrl: string
  readonly environment: Readonly<Record<string, string>>
  /** Whatever the service says that it has credited. */
  readonly credited: Credited[]
  rows: <Row extends object>(text: string, values?: readonly unknown[]) => Promise<Row[]>
  worker: () => OwnProcess
  /** Warnings and worse of all workers since the beginning. */
  logged: () => readonly string[]
  /** SIGKILL for the worker, and another in its place. */
  replaceWorker: () => Promise<void>
  /** Those that should work now. */
  readonly living: Living
  /** What all have printed since the beginning, and what they may not print. */
  printing: () => Printing
}

type Program = ReturnType<typeof spawnProgram> & { opsUrl: string }

export async function startOwnGround(
  world: ChaosWorld,
  networks: readonly Reported[],
  stack: AsyncDisposableStack,
): Promise<OwnGround> {
  const databaseUrl = await makeDatabase(world, networks, stack)
  const folder = await mkdtemp(join(world.folder, 'own-'))
  await chmod(folder, 0o711)
  const credited: Credited[] = []
  const service = stack.use(await startCreditingService(credited))
  const queueUrl = await emptyQueue(world)
  const environment: Record<string, string> = {
    ...(await writeReportedSettings(folder, networks, {
      DATABASE_URL: databaseUrl,
      SERVICE_URL: service.url,
    })),
    ...(queueUrl !== null && { QUEUE_URL: queueUrl }),
    // Long enough to be looked for in what is printed.
    SERVICE_API_KEY: randomBytes(12).toString('hex'),
    LOG_LEVEL: 'warn',
  }
  const spawned: Program[] = []
  stack.defer(() => Promise.all(spawned.map((one) => one.end('SIGKILL'))).then(() => undefined))
  const spawn = async (roles: string): Promise<Program> => {
    const port = String(await freePort())
    const program = spawnProgram(folder, ['start', '--roles', roles], { ...environment, OPS_PORT: port })
    recordProcess(folder, program.pid)
    const started = { ...program, opsUrl: `http://127.0.0.1:${port}` }
    spawned.push(started)
    return started
  }
  const http = await spawn('http')
  let worker = await spawn('worker,scheduler')
  await Promise.all([http, worker].map(untilUp))
  const connect = async () => {
    const client = new Client({ connectionString: databaseUrl })
    // A world may be ended under its fault.
    client.on('error', () => undefined)
    await client.connect()
    return client
  }
  const client = await connect()
  stack.defer(() => client.end())
  const named = (name: string, program: Program) => ({ ...program, name, isRunning: () => true })
  return {
    databaseUrl,
    environment,
    credited,
    rows: async <Row extends object>(text: string, values: readonly unknown[] = []) =>
      (await client.query<Row>(text, [...values])).rows,
    worker: () => worker,
    logged: () => spawned.flatMap(({ output }) => output().split('\n')),
    async replaceWorker() {
      await keepStanding(client)
      await worker.end('SIGKILL')
      worker = await spawn('worker,scheduler')
      await untilUp(worker)
    },
    living: { connect, daemons: () => [named('http', http), named('worker', worker)] },
    printing: () => ({
      environment,
      secret: environment.WEBHOOK_SECRETS ?? '',
      outputs: spawned.map(({ output }) => output()),
    }),
  }
}

async function makeDatabase(
  { databaseUrl, connect }: ChaosWorld,
  networks: readonly Reported[],
  stack: AsyncDisposableStack,
): Promise<string> {
  const name = `own_${randomBytes(6).toString('hex')}`
  const owner = await connect()
  stack.defer(() => owner.end())
  await owner.query(`create database ${escapeIdentifier(name)} template template0`)
  stack.defer(async () => {
    await owner.query(`drop database if exists ${escapeIdentifier(name)} with (force)`)
  })
  const url = new URL(databaseUrl)
  url.pathname = `/${name}`
  const db = openDatabase<Tables>({ url: url.href, poolMax: 2, applicationName: 'own ground' })
  try {
    await migrate(db, migrationsFolder)
    await makePartitions(db)
    await saveDepositor(db, networks)
  } finally {
    await db.destroy()
  }
  const client = new Client({ connectionString: url.href })
  await client.connect()
  await keepChanges(client)
  await client.end()
  return url.href
}

/** Null where the queue lives in the database. */
async function emptyQueue({ redis }: ChaosWorld): Promise<string | null> {
  if (redis === null) return null
  const url = new URL(redis.url)
  url.pathname = `/${redisDatabase}`
  const client = new Redis(url.href)
  await client.flushdb()
  client.disconnect()
  return url.href
}

async function untilUp({ opsUrl, output, ended }: Program): Promise<void> {
  let isOver = false
  void ended.finally(() => {
    isOver = true
  })
  await until(
    'a process of the own ground is up',
    async () => {
      if (isOver) throw new Error(`it ended: ${output()}`)
      const response = await fetch(`${opsUrl}/livez`).catch(() => null)
      return response?.ok === true ? true : null
    },
    120_000,
  )
}

/** What a network is read up to as final; null before the first scan. */
export async function cursorOf(
  { rows }: OwnGround,
  network: string,
): Promise<{ height: bigint; hash: string } | null> {
  const [row] = await rows<{ height: string; hash: string }>(
    `select cursor #>> '{final,height}' as height, cursor #>> '{final,hash}' as hash from stream
     where name = $1 and cursor is not null`,
    [`scan/${network}`],
  )
  return row === undefined ? null : { height: BigInt(row.height), hash: row.hash }
}

/** Waits until a network is read up to that height, and everything found is applied. */
export function untilRead(ground: OwnGround, network: string, height: bigint): Promise<bigint> {
  return until(
    `${network} is read up to ${height}`,
    async () => {
      const reached = await cursorOf(ground, network)
      const pending = await ground.rows('select from inbox_pending limit 1')
      return reached !== null && reached.height >= height && pending.length === 0 ? reached.height : null
    },
    120_000,
  )
}

/** Waits until scans fail again and again for this reason: each failure is counted, and a problem is logged once. */
export async function untilRefused(ground: OwnGround, reason: RegExp): Promise<void> {
  const failedScans = async () =>
    (await scrape(ground.worker().opsUrl)).value('depositd_job_failures_total{name="scan"}') ?? 0
  const before = await failedScans()
  const isRefused = async () =>
    (await failedScans()) >= before + 2 && ground.logged().some((line) => reason.test(line))
  await untilSame(`it is refused again and again: ${reason.source}`, isRefused, true)
}

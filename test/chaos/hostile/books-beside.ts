import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { Client } from 'pg'
import { parse, stringify } from 'yaml'
import type { ChaosWorld } from '../world.ts'
import { type AnotherDaemon, startDaemon } from './another-daemon.ts'
import { holdBeside } from './hold-beside.ts'
import { intakeAt, type Target } from './target.ts'

/** Books of a fault's own, on a database of their own: what is told there would not be true of the world's. */
export type BooksBeside = {
  target: Target
  http: AnotherDaemon
  worker: AnotherDaemon
  query: <Row>(text: string, values?: unknown[]) => Promise<Row[]>
  /** What is held of the world's books, too. */
  hold: () => Promise<void>
}

let made = 0

/**
 * Two processes over a fresh database that know the owners of the world, and read the same service and chains.
 * @param changes sections of the settings file in the place of the world's
 */
export async function openBooksBeside(
  world: ChaosWorld,
  stack: AsyncDisposableStack,
  changes: object = {},
): Promise<BooksBeside> {
  const name = `beside_${process.pid}_${++made}`
  const settings = { ...(await ownDatabase(world, name, stack)), ...(await ownFile(world, name, changes)) }
  const http = stack.use(await startDaemon(world, { roles: 'http', environment: settings }))
  const client = await connectTo(settings.DATABASE_URL)
  stack.defer(() => client.end())
  await copyOwners(world, client)
  const worker = stack.use(
    await startDaemon(world, { roles: 'worker,scheduler', environment: settings, isReadyLater: true }),
  )
  const target = {
    intake: intakeAt(http, http.url),
    secret: world.intake.secret,
    environment: world.environment,
    connect: () => connectTo(settings.DATABASE_URL),
    say: world.say,
  }
  const query = async <Row>(text: string, values: unknown[] = []) =>
    (await client.query(text, values)).rows as Row[]
  const { connect } = target
  const beside = { databaseUrl: settings.DATABASE_URL, connect, processes: [http, worker] }
  return { target, http, worker, query, hold: () => holdBeside(world, beside) }
}

/** The world's file, with some sections in the place of its own. */
async function ownFile({ environment, folder }: ChaosWorld, name: string, changes: object) {
  const file = parse(await readFile(environment.DEPOSITD_CONFIG ?? '', 'utf8')) as object
  const path = join(folder, `${name}.yaml`)
  await writeFile(path, stringify({ ...file, ...changes }))
  return { DEPOSITD_CONFIG: path }
}

/** On the world's server, so that the same faults strike it; the queue is apart, too. */
async function ownDatabase(world: ChaosWorld, name: string, stack: AsyncDisposableStack) {
  const owner = await world.connect()
  try {
    await owner.query(`create database ${name}`)
  } finally {
    await owner.end()
  }
  stack.defer(async () => {
    const last = await world.connect()
    await last.query(`drop database if exists ${name} with (force)`)
    await last.end()
  })
  const url = withPath(world.environment.DATABASE_URL, name)
  return { DATABASE_URL: url, QUEUE_URL: await emptyQueue(world, url) }
}

/** A database of Redis that nobody else uses, or the one of the books. */
async function emptyQueue({ redis, environment }: ChaosWorld, databaseUrl: string): Promise<string> {
  if (redis === null) return databaseUrl
  const client = new Redis(withPath(redis.url, '8'))
  await client.flushdb()
  client.disconnect()
  return withPath(environment.QUEUE_URL, '8')
}

function withPath(text: string | undefined, path: string): string {
  const url = new URL(text ?? '')
  url.pathname = `/${path}`
  return url.href
}

async function connectTo(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  await client.connect()
  return client
}

/** Rows of both tables as documents, so that they need not be named column by column. */
export async function copyOwners(world: ChaosWorld, to: Client): Promise<void> {
  const from = await world.connect()
  try {
    for (const table of ['owner', 'address_book']) {
      const { rows } = await from.query<{ all: unknown }>(
        `select jsonb_agg(to_jsonb(${table})) as all from ${table}`,
      )
      await to.query(
        `insert into ${table} overriding system value select * from jsonb_populate_recordset(null::${table}, $1::jsonb)`,
        [JSON.stringify(rows[0]?.all ?? [])],
      )
    }
  } finally {
    await from.end()
  }
}

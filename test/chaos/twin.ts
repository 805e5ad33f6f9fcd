import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, escapeIdentifier } from 'pg'
import { transfersPath } from '../../src/intake/server.ts'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { compareBooks } from '../oracle/compare-books.ts'
import { runCommand } from '../support/command.ts'
import { signStandardWebhook } from '../support/sign-webhook.ts'
import { until } from '../support/until.ts'
import { spawnDaemon } from './daemon-process.ts'
import type { ChaosWorld, DaemonProcess } from './world.ts'

/** What a twin is made of: the struck daemon's database, and the way to everything past the proxies. */
export type Struck = Pick<ChaosWorld, 'databaseUrl' | 'straight' | 'folder'> & {
  readonly intake: Pick<ChaosWorld['intake'], 'secret'>
}

const pauseMs = 500
const agreesWithinMs = 180_000

/** What the struck daemon and its twin do not agree in, once they agree in all or the time is over: a line each, here the struck one, there the twin. */
export type TwinComparison = (withinMs?: number) => Promise<string[]>

/**
 * I7: starts a daemon that nothing strikes on a database of its own, gives it every webhook that the struck one took, in
 * another order, and lets it read the service and the chains for itself.
 */
export async function startTwinOf(struck: Struck, stack: AsyncDisposableStack): Promise<TwinComparison> {
  const own = await connect(struck.databaseUrl)
  stack.defer(() => own.end())
  const { databaseUrl, daemon, intakeUrl } = await startTwin(struck, own, stack)
  const twin = await connect(databaseUrl)
  stack.defer(() => twin.end())
  await until('the twin takes webhooks', () => isReady(daemon), agreesWithinMs)
  await sendAll(own, intakeUrl, struck.intake.secret)
  return async (withinMs = agreesWithinMs) => {
    const deadline = performance.now() + withinMs
    for (;;) {
      const found = await compareBooks(own, twin)
      if (found.length === 0 || performance.now() > deadline || !daemon.isRunning()) return found
      await sleep(pauseMs)
    }
  }
}

export async function differencesToTwin(struck: Struck): Promise<string[]> {
  await using stack = new AsyncDisposableStack()
  const compare = await startTwinOf(struck, stack)
  return await compare()
}

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url })
  // Whoever asks hears of a server that is gone.
  client.on('error', () => undefined)
  await client.connect()
  return client
}

async function startTwin(struck: Struck, own: Client, stack: AsyncDisposableStack) {
  const name = `twin_${randomBytes(4).toString('hex')}`
  await own.query(`create database ${escapeIdentifier(name)} template template0`)
  stack.defer(() => own.query(`drop database if exists ${name} with (force)`).then(() => undefined))
  const url = new URL(struck.databaseUrl)
  url.pathname = `/${name}`
  const ports = { HTTP_PORT: `${await freePort()}`, OPS_PORT: `${await freePort()}` }
  const { QUEUE_URL: _queue, ...straight } = struck.straight
  const environment = {
    ...straight,
    DATABASE_URL: url.href,
    HTTP_HOST: loopback,
    OPS_HOST: loopback,
    ...ports,
  }
  const { status, err } = await runCommand('migrate', environment)
  if (status !== 0) throw new Error(`the twin's database: ${err}`)
  await copyOwners(own, url.href)
  const folder = join(struck.folder, name)
  await mkdir(folder)
  const daemon = spawnDaemon({ name, roles: 'http,worker,scheduler', environment, folder })
  stack.defer(() => daemon.stop().then(() => undefined))
  const intakeUrl = `http://${loopback}:${ports.HTTP_PORT}${transfersPath}`
  return { databaseUrl: url.href, daemon, intakeUrl }
}

/** Whom deposits are for is told by people, not by evidence: the twin is told the same, of the same time. */
async function copyOwners(own: Client, databaseUrl: string): Promise<void> {
  const twin = await connect(databaseUrl)
  try {
    for (const table of ['owner', 'address_book', 'address_end']) {
      const { rows } = await own.query<{ rows: string }>(
        `select coalesce(jsonb_agg(one), '[]')::text as rows from ${table} as one`,
      )
      await twin.query(
        `insert into ${table} overriding system value select * from jsonb_populate_recordset(null::${table}, $1::jsonb)`,
        [rows[0]?.rows],
      )
    }
  } finally {
    await twin.end()
  }
}

async function isReady(daemon: DaemonProcess): Promise<true | null> {
  if (!daemon.isRunning()) throw new Error(`the twin ended: ${daemon.output().slice(-2000)}`)
  const answer = await fetch(`${daemon.opsUrl}/readyz`).catch(() => null)
  return answer?.status === 200 ? true : null
}

type Webhook = { id: string; body: Buffer }

/** All of them, signed anew: the signatures that they came with are too old by now. */
async function sendAll(own: Client, url: string, secret: string): Promise<void> {
  const { rows } = await own.query<Webhook>(
    `select split_part(source_key, ' ', 1) as id, body from inbox where source = 'webhook' order by md5(source_key)`,
  )
  for (const { id, body } of rows) {
    await until(`the twin takes webhook ${id}`, async () => {
      const headers = {
        'content-type': 'application/json',
        ...signStandardWebhook({ secret, id, body, at: new Date() }),
      }
      const answer = await fetch(url, { method: 'POST', headers, body: new Uint8Array(body) })
      await answer.arrayBuffer()
      return answer.status === 202 || null
    })
  }
}

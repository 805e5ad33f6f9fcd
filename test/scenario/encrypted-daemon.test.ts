import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Certificate } from '../support/certificates.ts'
import { type EmbeddedProgram, spawnProgram } from '../support/embedded-program.ts'
import { type EncryptedServers, startEncryptedServers, tlsInstalled } from '../support/encrypted-servers.ts'
import { run } from '../support/postgres.ts'
import { startRedis } from '../support/redis.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const withinMs = 120_000

/** All roles in one process, to servers that speak TLS under an authority of one's own. */
describe.skipIf(!tlsInstalled())('a daemon with TLS to every server', () => {
  const stack = new AsyncDisposableStack()
  let servers: EncryptedServers
  let good: Certificate
  let world: World
  let encrypted: Record<string, string>
  let program: EmbeddedProgram | null = null

  beforeAll(async () => {
    servers = await startEncryptedServers(stack)
    good = servers.authority.issue('good', { host: 'localhost', days: 2 })
    world = await startWorld({ networks: ['base'], makeDatabase }, stack)
    await world.daemon.stop()
    const { DATABASE_URL = '', SERVICE_URL = '', RPC_BASE = '' } = world.environment
    encrypted = {
      ...world.environment,
      DATABASE_URL: await servers.servePostgres(good, new URL(DATABASE_URL).pathname.slice(1)),
      SERVICE_URL: await servers.serveBefore(SERVICE_URL, good),
      RPC_BASE: await servers.serveBefore(RPC_BASE, good),
      NODE_EXTRA_CA_CERTS: servers.authority.ca,
    }
  })
  afterEach(async () => {
    await program?.end('SIGKILL')
    program = null
  })
  afterAll(() => stack.disposeAsync())

  async function makeDatabase() {
    const name = `test_${randomBytes(8).toString('hex')}`
    await servers.postgres.createDatabase(name)
    const drop = () => run(servers.postgres.url('postgres'), `drop database ${name} with (force)`)
    return { url: servers.postgres.url(name), drop }
  }

  async function start(environment: Record<string, string>): Promise<EmbeddedProgram> {
    program = spawnProgram(servers.folder, ['start'], environment)
    await until('it is ready', isReady, withinMs)
    return program
  }

  async function isReady(): Promise<true | null> {
    const answer = await fetch(`http://127.0.0.1:${encrypted.OPS_PORT}/readyz`).catch(() => null)
    return answer?.status === 200 || null
  }

  /** By the service's webhook, its records, and the chain; and in the books. */
  async function seeDepositBooked(): Promise<void> {
    const tx = await world.pay({ network: 'base', symbol: 'USDC', owner: 'savings', amount: '5' })
    const findJournals = async () => {
      const { rows } = await sql<{ kind: string }>`
        select kind from ledger_journal join deposit on deposit.id = deposit_id
        where tx = ${tx} and state = 'reconciled' and webhook_at is not null order by kind`.execute(world.db)
      return rows.length > 0 ? rows.map(({ kind }) => kind) : null
    }
    const journals = await until('it is reconciled, its webhook included', findJournals, withinMs)
    expect(journals).toEqual(['conversion', 'deposit', 'settlement'])
  }

  /** Every session of the daemon at Postgres; the test's own are plain. */
  async function seeAllEncrypted(names: readonly string[]): Promise<void> {
    // A session that nobody uses is closed after a while, and only this question uses that of health.
    await until('it is ready', isReady, withinMs)
    const { rows } = await sql<{ application_name: string; ssl: boolean }>`
      select distinct application_name, ssl from pg_stat_activity join pg_stat_ssl using (pid)
      where datname = current_database() and backend_type = 'client backend' and application_name <> 'test'
      order by 1, 2`.execute(world.db)
    const expected = names.map((application_name) => ({ application_name, ssl: true }))
    expect(rows).toEqual(expected)
  }

  test('books a deposit, and wakes its jobs by a Redis that speaks TLS alone', async () => {
    const daemon = await start({ ...encrypted, QUEUE_URL: await servers.serveRedis(good) })
    await seeDepositBooked()
    await seeAllEncrypted(['depositd', 'depositd events', 'depositd health'])
    expect(daemon.output()).not.toContain('"level":50')
    expect(await daemon.end('SIGTERM')).toBe(0)
  }, 300_000)

  test('books a deposit, and wakes its jobs by the queue in Postgres', async () => {
    const daemon = await start({ ...encrypted, QUEUE_URL: encrypted.DATABASE_URL ?? '' })
    await seeDepositBooked()
    await seeAllEncrypted(['depositd', 'depositd events', 'depositd health', 'depositd queue'])
    expect(daemon.output()).not.toContain('"level":50')
    expect(await daemon.end('SIGTERM')).toBe(0)
  }, 300_000)

  /** What the program says that does not start; it ends by itself. */
  async function refusalOf(changes: Record<string, string>): Promise<string> {
    const refused = spawnProgram(servers.folder, ['start'], { ...encrypted, LOG_LEVEL: 'silent', ...changes })
    expect(await refused.ended).toBeGreaterThan(0)
    return refused.output().replaceAll(/localhost:\d+/g, 'HOST')
  }

  test('starts on no Redis that speaks none, where rediss:// asks for it', async () => {
    const redis = await startRedis()
    stack.defer(() => redis.stop())
    const url = redis.url.replace('redis://127.0.0.1', 'rediss://localhost')
    expect(await refusalOf({ QUEUE_URL: url })).toBe(
      'depositd: connecting to QUEUE_URL (HOST): no answer within 5000 ms; rediss:// requires TLS: check that the server accepts TLS on this port\n',
    )
  }, 60_000)

  test('starts on no Postgres that speaks none, where sslmode asks for it', async () => {
    await servers.stopServing()
    expect(await refusalOf({})).toBe(refusedBy('DATABASE_URL'))
    const queue = {
      DATABASE_URL: world.environment.DATABASE_URL ?? '',
      QUEUE_URL: encrypted.DATABASE_URL ?? '',
    }
    expect(await refusalOf(queue)).toBe(refusedBy('QUEUE_URL'))
  }, 60_000)
})

function refusedBy(setting: string): string {
  const fix = 'enable ssl on the server, or omit sslmode on a private network'
  return `depositd: connecting to ${setting} (HOST): The server does not support SSL connections: sslmode in its URL requires TLS: ${fix}\n`
}

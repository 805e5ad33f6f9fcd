import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { contradictionsIn } from '../oracle/hold.ts'
import { type EmbeddedProgram, spawnProgram } from '../support/embedded-program.ts'
import { holdersNow, keepLeaseHistory, leaseContradictions, takeovers } from '../support/lease-history.ts'
import { redisInstalled, startRedis } from '../support/redis.ts'
import { until } from '../support/until.ts'
import { startWorld, type World } from '../support/world.ts'

const withinMs = 180_000
/** After a kill work is to go on by itself within so long. */
const takenOverWithinSeconds = 30
const streams = ['scan/base', 'scan/arbitrum', 'poll']

const stack = new AsyncDisposableStack()
const programs: EmbeddedProgram[] = []
let folder: string
let world: World
let observer: Client
const paid: string[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'depositd-replicas-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  const redis = redisInstalled() ? await startRedis() : null
  stack.defer(() => redis?.stop())
  world = await startWorld({ networks: ['base', 'arbitrum'], ...(redis && { queueUrl: redis.url }) }, stack)
  await world.daemon.stop()
  observer = new Client({ connectionString: world.settings.databaseUrl })
  await observer.connect()
  stack.defer(() => observer.end())
  await observer.query(keepLeaseHistory)
})
afterAll(async () => {
  for (const program of programs) await program.end('SIGKILL')
  await stack.disposeAsync()
})

/** The first has the port that the service sends to. */
async function start(roles: string): Promise<EmbeddedProgram> {
  const { HTTP_PORT = '' } = world.environment
  const ports = {
    HTTP_PORT: programs.length === 0 ? HTTP_PORT : String(await freePort()),
    OPS_PORT: String(await freePort()),
  }
  const program = spawnProgram(folder, ['start', '--roles', roles], { ...world.environment, ...ports })
  programs.push(program)
  const isReady = async () => {
    const answer = await fetch(`http://${loopback}:${ports.OPS_PORT}/readyz`).catch(() => null)
    return answer?.status === 200 || null
  }
  await until(`${roles} is ready`, isReady, withinMs)
  return program
}

async function pay(count: number): Promise<void> {
  for (let place = 0; place < count; place++) {
    const network = place % 2 === 0 ? 'base' : 'arbitrum'
    const amount = String(1 + paid.length)
    paid.push(await world.pay({ network, symbol: 'USDC', owner: 'savings', amount }))
  }
}

async function countReconciled(): Promise<number> {
  const { rows } = await observer.query<{ count: string }>(
    `select count(*) from deposit where state = 'reconciled' and webhook_at is not null and tx = any($1)`,
    [paid],
  )
  return Number(rows[0]?.count)
}

const untilReconciled = () =>
  until(
    'every deposit is reconciled',
    async () => ((await countReconciled()) === paid.length ? true : null),
    withinMs,
  )

/** Whoever has all of them; null while they have several holders, or none. */
async function holderOfAll(): Promise<string | null> {
  const { rows } = await observer.query<{ name: string; holder: string | null }>(holdersNow, [streams])
  const holders = new Set(rows.map(({ holder }) => holder))
  return rows.length === streams.length && holders.size === 1 ? (rows[0]?.holder ?? null) : null
}

describe('three processes on one database and one queue', () => {
  test('one that is killed at work is followed by another, and every deposit is reconciled', async () => {
    await start('http,scheduler')
    const killed = await start('http,worker,scheduler')
    const holder = await until('the only worker has all streams', holderOfAll, withinMs)
    await start('http,worker,scheduler')
    await pay(6)
    await until('some of it is done', async () => ((await countReconciled()) > 0 ? true : null), withinMs)
    const paying = pay(20)
    await until('more is under way', () => (paid.length > 10 ? true : null), withinMs)
    await killed.end('SIGKILL')
    await paying
    await untilReconciled()
    const taken = await until('all its streams are taken', () => takenFrom(holder), withinMs)
    for (const { seconds } of taken) {
      expect(seconds).toBeGreaterThan(0)
      expect(seconds).toBeLessThan(takenOverWithinSeconds)
    }
  }, 600_000)

  test('one that is asked to stop gives its streams back at once, and nothing is left undone', async () => {
    const stopped = programs.at(-1)
    const last = await start('worker,scheduler')
    const paying = pay(10)
    expect(await stopped?.end('SIGTERM')).toBe(0)
    await paying
    await untilReconciled()
    expect(last.output()).not.toContain('"level":50')
  }, 600_000)

  test.each(Object.entries(leaseContradictions))('%s', async (_name, question) => {
    const { rows: changes } = await observer.query(`
      select 1 from history.lease where stream like 'tick/%' union all
      select 1 from history.lease where was_holder <> holder`)
    expect(changes.length).toBeGreaterThan(50)
    const { rows } = await observer.query(question)
    expect(rows.slice(0, 10), `${rows.length} contradictions`).toEqual([])
  })

  test('the books hold against the chains and the service', async () => {
    const networks = world.networks.map(({ name, rpcUrls }) => ({ name, url: rpcUrls[0] ?? '' }))
    const { serviceDatabaseUrl, settings } = world
    const facts = { databaseUrl: settings.databaseUrl, serviceDatabaseUrl, networks }
    expect(await contradictionsIn(facts)).toEqual([])
  })
})

async function takenFrom(holder: string): Promise<{ stream: string; seconds: number }[] | null> {
  const { rows } = await observer.query<{ stream: string; seconds: number }>(takeovers, [holder])
  return streams.every((name) => rows.some(({ stream }) => stream === name)) ? rows : null
}

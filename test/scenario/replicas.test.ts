import { rm } from 'node:fs/promises'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort, loopback } from '../../src/sandbox/free-port.ts'
import { preloaded } from '../chaos/preloaded.ts'
import { contradictionsIn } from '../oracle/hold.ts'
import { type EmbeddedProgram, spawnProgram } from '../support/embedded-program.ts'
import { type InTurn, startInTurn } from '../support/in-turn.ts'
import {
  holdersNow,
  keepLeaseHistory,
  leaseContradictions,
  readers,
  takeovers,
} from '../support/lease-history.ts'
import { makeFolder } from '../support/make-folder.ts'
import { redisInstalled, startRedis } from '../support/redis.ts'
import { until } from '../support/until.ts'
import { type Sending, startSending } from '../support/webhook-senders.ts'
import { startWorld, type World } from '../support/world.ts'

const withinMs = 180_000
/** After a kill work is to go on by itself within so long. */
const takenOverWithinSeconds = 30
const streams = ['scan/arbitrum', 'scan/base', 'poll']

type Replica = EmbeddedProgram & { name: string; httpPort: number }

describe.skipIf(!redisInstalled())('processes on one database and one queue', () => {
  const stack = new AsyncDisposableStack()
  const programs: Replica[] = []
  let folder: string
  let world: World
  let observer: Client
  /** Where the service sends to, and strangers too: each connection goes to another process. */
  let intake: InTurn
  let unrelatedWebhooks: Sending
  const paid: string[] = []

  beforeAll(async () => {
    folder = makeFolder('depositd-replicas-')
    stack.defer(() => rm(folder, { recursive: true, force: true }))
    const redis = await startRedis()
    stack.defer(() => redis.stop())
    world = await startWorld({ networks: ['base', 'arbitrum'], queueUrl: redis.url }, stack)
    await world.daemon.stop()
    intake = stack.use(await startInTurn(Number(world.environment.HTTP_PORT)))
    observer = new Client({ connectionString: world.settings.databaseUrl })
    await observer.connect()
    stack.defer(() => observer.end())
    await observer.query(keepLeaseHistory)
    unrelatedWebhooks = stack.use(
      startSending(`http://${loopback}:${world.environment.HTTP_PORT}`, world.environment),
    )
  })
  afterAll(async () => {
    for (const program of programs) await program.end('SIGKILL')
    await stack.disposeAsync()
  })

  /** Its sessions at Postgres have its name. */
  async function start(roles: string, orders: Record<string, string> = {}): Promise<Replica> {
    const name = `${programs.length}:${roles}`
    const database = new URL(world.environment.DATABASE_URL ?? '')
    database.searchParams.set('application_name', name)
    const [httpPort, opsPort] = [await freePort(), await freePort()]
    const own = { DATABASE_URL: database.href, HTTP_PORT: String(httpPort), OPS_PORT: String(opsPort) }
    const environment = { ...world.environment, ...own, ...orders }
    const program = { ...spawnProgram(folder, ['start', '--roles', roles], environment), name, httpPort }
    programs.push(program)
    const isReady = async () => {
      const answer = await fetch(`http://${loopback}:${opsPort}/livez`).catch(() => null)
      const hasStarted = program.output().includes('daemon_started')
      return (answer?.status === 200 && hasStarted) || null
    }
    await until(`${name} has started`, isReady, withinMs)
    if (roles.includes('http')) intake.add(httpPort)
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

  async function takenFrom(holder: string): Promise<{ stream: string; seconds: number }[] | null> {
    const { rows } = await observer.query<{ stream: string; seconds: number }>(takeovers, [holder])
    return streams.every((name) => rows.some(({ stream }) => stream === name)) ? rows : null
  }

  /** The process that took the poll last. */
  async function pollHolder(): Promise<string | undefined> {
    const { rows } = await observer.query<{ process: string }>(`
      select process from history.lease
      where stream = 'poll' and holder is not null and holder is distinct from was_holder order by id desc limit 1`)
    return rows[0]?.process
  }

  const untilPolledBy = ({ name }: Replica) =>
    until(`${name} polls`, async () => ((await pollHolder()) === name ? true : null), withinMs)

  async function countTicks({ name }: Replica): Promise<number> {
    const { rows } = await observer.query<{ count: number }>(
      `select count(*)::int as count from history.lease where stream like 'tick/%' and process = $1`,
      [name],
    )
    return rows[0]?.count ?? 0
  }

  test('one that is killed while it takes webhooks and reads is followed by others, and nothing is lost', async () => {
    await start('http,scheduler')
    const killed = await start('http,worker,scheduler')
    const holder = await until('the only worker has all streams', holderOfAll, withinMs)
    await start('http,worker,scheduler')
    await pay(6)
    await until('some of it is done', async () => ((await countReconciled()) > 0 ? true : null), withinMs)
    const paying = pay(20)
    await until('more is under way', () => (paid.length > 10 ? true : null), withinMs)
    const isBusy = () => intake.taken(killed.httpPort) > 50 || null
    await until('it takes webhooks', isBusy, withinMs)
    await killed.end('SIGKILL')
    const answered = unrelatedWebhooks.acknowledged().length
    await paying
    await untilReconciled()
    const taken = await until('all its streams are taken', () => takenFrom(holder), withinMs)
    for (const { seconds } of taken) {
      expect(seconds).toBeGreaterThan(0)
      expect(seconds).toBeLessThan(takenOverWithinSeconds)
    }
    expect(unrelatedWebhooks.acknowledged().length).toBeGreaterThan(answered + 50)
  }, 600_000)

  test('one that is asked to stop gives its streams back at once, and nothing is left undone', async () => {
    const stopped = programs.at(-1)
    const last = await start('worker,scheduler')
    const paying = pay(10)
    expect(await stopped?.end('SIGTERM')).toBe(0)
    await paying
    await untilReconciled()
    expect(last.output()).not.toContain('"level":50')
    const areMany = () => unrelatedWebhooks.acknowledged().length > 500 || null
    await until('many unrelated webhooks are answered', areMany, withinMs)
    await unrelatedWebhooks.stop()
  }, 600_000)

  test('one that stands still while it polls, and goes on when another reads in its place, writes nothing', async () => {
    const before = programs.at(-1)
    const still = await start('worker,scheduler', preloaded({ stopAt: { failpoint: 'poll.read' } }))
    expect(await before?.end('SIGTERM')).toBe(0)
    await untilPolledBy(still)
    const other = await start('worker,scheduler')
    await pay(4)
    await untilPolledBy(other)
    const ticked = await countTicks(still)
    process.kill(still.pid, 'SIGCONT')
    const isBack = async () => (await countTicks(still)) > ticked + 5 || null
    await until('the first is at work again', isBack, withinMs)
    await pay(4)
    await untilReconciled()
  }, 600_000)

  test('every webhook that was answered 202 is stored', async () => {
    const acknowledged = unrelatedWebhooks.acknowledged()
    expect(acknowledged.length).toBeGreaterThan(500)
    const { rows } = await observer.query<{ id: string }>(`
      select convert_from(body, 'UTF8')::jsonb ->> 'id' as id from inbox where source = 'webhook'`)
    const stored = new Set(rows.map(({ id }) => id))
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([])
  })

  test('what they did was enough to tell how they share it', async () => {
    const { rows: changes } = await observer.query(`
      select 1 from history.lease where stream like 'tick/%' union all
      select 1 from history.lease where was_holder <> holder`)
    expect(changes.length).toBeGreaterThan(50)
    const { rows } = await observer.query<{ stream: string; processes: number; transactions: number }>(
      readers,
    )
    expect(rows.map(({ stream }) => stream)).toEqual(streams.toSorted())
    for (const { processes, transactions } of rows) {
      expect(processes).toBeGreaterThan(1)
      expect(transactions).toBeGreaterThan(3)
    }
  })

  test.each(Object.entries(leaseContradictions))('%s', async (_name, question) => {
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

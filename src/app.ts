import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { createReader } from './chain/reader.ts'
import type { Settings } from './config/settings.ts'
import { assert } from './core/errors.ts'
import { createInboxWriter } from './intake/inbox-writer.ts'
import { type Intake, intakeLimits, startIntake, transfersPath } from './intake/server.ts'
import { createStandardWebhooks } from './intake/signature/standard-webhooks.ts'
import { createQueue, type Queue, queueLimits } from './jobs/queue.ts'
import { startSchedule, type Tick } from './jobs/schedule.ts'
import { createWork, type JobName, type Work } from './jobs/work.ts'
import { createMetrics } from './ops/metrics.ts'
import { createObserver, type Observer } from './ops/observe.ts'
import { type Check, startOps } from './ops/server.ts'
import { createProviderClient } from './provider/client.ts'
import { createClaimReader } from './provider/read-claim.ts'
import { pinAssets } from './store/address-book.ts'
import { type Database, openDatabase, pingDatabase } from './store/database.ts'
import { readGauges } from './store/gauges.ts'
import { oldestPending, storeInbox } from './store/inbox.ts'
import { migrate } from './store/migrate.ts'
import { releaseLeases, stillStreams } from './store/streams.ts'
import type { Tables } from './store/tables.ts'

export const roles = ['http', 'worker', 'scheduler'] as const
export type Role = (typeof roles)[number]

export type Daemon = {
  /** Where webhooks are to be sent, without a trailing slash; null without the role `http`. */
  webhookUrl: string | null
  opsUrl: string
  /** Does everything there is to do now, without waiting for ticks or wake-ups. */
  processAll: () => Promise<void>
  /** Refuses intake, lets what is under way finish, and closes in reverse order of starting. */
  stop: () => Promise<void>
}

export type DaemonOptions = { roles: readonly Role[]; version: string; log: Logger }

export const migrationsFolder = join(import.meta.dirname, '../db/migrations')

const poolMax = 12
const leaseMs = 15_000
const workerConcurrency = 8
const signatureToleranceSeconds = 300
/** An observation that waits longer than this makes the daemon unready. */
const inboxOldestMaxSeconds = 60
/** So does a network or a poll that was last read completely longer ago. */
const streamAgeMaxSeconds = 300

/**
 * Migrates the database and starts the daemon's roles against the servers the settings name.
 * @throws Fault `settings_bad` or `remote_failed` that says which server, and what is off.
 */
export async function startDaemon(settings: Settings, options: DaemonOptions): Promise<Daemon> {
  await using starting = new AsyncDisposableStack()
  const holder = randomUUID()
  const metrics = createMetrics(options.version)
  const observer = createObserver(metrics, options.log)

  await prepareDatabase(settings)
  const db = openDatabase<Tables>({
    url: settings.databaseUrl,
    poolMax,
    applicationName: 'depositd',
    role: 'depositd_daemon',
  })
  starting.defer(() => db.destroy())
  starting.defer(() => releaseLeases(db, holder).catch(() => undefined))
  const queue = await createQueue({
    url: settings.queueUrl,
    name: 'depositd',
    limits: queueLimits,
    report: observer.queueTrouble,
  })
  starting.defer(() => queue.stop())
  const work = composeWork(settings, { db, queue, holder, observer })

  const has = (role: Role) => options.roles.includes(role)
  const { apply, scan, poll, sweep } = work
  if (has('worker')) queue.work({ apply, scan, poll, sweep }, { concurrency: workerConcurrency })
  if (has('scheduler')) {
    const schedule = await startSchedule(ticksOf(settings, { work, queue, observer }))
    starting.defer(() => schedule.stop())
  }
  const ops = await startOps({
    ...settings.ops,
    metrics,
    read: async () => ({ ...(await readGauges(db)), jobs: await queue.counts() }),
    checks: checksOf(db, queue),
  })
  starting.defer(() => ops.stop())
  const intake = has('http') ? await composeIntake(settings, { db, queue, observer, options }) : null
  starting.defer(() => intake?.stop())

  const running = starting.move()
  return {
    webhookUrl: intake === null ? null : intake.url + transfersPath,
    opsUrl: ops.url,
    processAll: work.all,
    stop: () => running.disposeAsync(),
  }
}

/** Brings the schema up to date and pins the assets, as the user of the URL; the daemon itself may do less. */
async function prepareDatabase({ databaseUrl, networks, creditAsset }: Settings): Promise<void> {
  const owner = openDatabase<Tables>({ url: databaseUrl, poolMax: 2, applicationName: 'depositd migrate' })
  try {
    await migrate(owner, migrationsFolder)
    await pinAssets(owner, [...networks.flatMap(({ assets }) => assets), creditAsset])
  } finally {
    await owner.destroy()
  }
}

type Parts = { db: Database<Tables>; queue: Queue; holder: string; observer: Observer }

function composeWork(settings: Settings, { db, queue, holder, observer }: Parts): Work {
  const read = settings.networks.filter(({ rpcUrls }) => rpcUrls.length > 0)
  return createWork({
    db,
    holder,
    leaseMs,
    now: () => new Date(),
    readClaim: createClaimReader(settings),
    rules: { policy: settings.policy, senders: settings.senders },
    client: createProviderClient(settings.service, observer.pollRequest),
    overlapMs: settings.pollOverlapMs,
    startHeights: settings.startHeights,
    readers: new Map(read.map((network) => [network.name, createReader(network, { observe: observer.rpc })])),
    wake: queue.wake,
    observe: observer,
  })
}

type Waking = { work: Work; queue: Queue; observer: Observer }

/** Every scheduler ticks; the queue makes one job of the ticks of all of them. */
function ticksOf({ networks, schedule }: Settings, { queue, observer }: Waking): Tick[] {
  const wake = (job: JobName, key?: string) => () =>
    queue.wake(job, key).catch((error: unknown) => observer.jobFailed(job, error))
  const scans = networks
    .filter(({ rpcUrls }) => rpcUrls.length > 0)
    .map(({ name }) => ({ name: `scan ${name}`, expression: schedule.scan, run: wake('scan', name) }))
  return [
    ...scans,
    { name: 'poll', expression: schedule.poll, run: wake('poll') },
    { name: 'sweep', expression: schedule.sweep, run: wake('sweep') },
  ]
}

type Receiving = { db: Database<Tables>; queue: Queue; observer: Observer; options: DaemonOptions }

function composeIntake(settings: Settings, { db, queue, observer, options }: Receiving): Promise<Intake> {
  const writer = createInboxWriter({
    store: (rows) => storeInbox(db, rows),
    flushRowsMax: 500,
    flushBytesMax: 8 * 1024 * 1024,
    waitingMax: 10_000,
    waitingBytesMax: 64 * 1024 * 1024,
    flushTimeoutMs: 5000,
  })
  return startIntake({
    ...settings.http,
    limits: intakeLimits,
    verify: createStandardWebhooks({
      secrets: settings.webhooks.secrets,
      toleranceSeconds: signatureToleranceSeconds,
    }),
    write: writer.write,
    now: () => new Date(),
    observe: observer.webhook,
    // A wake-up that fails is made up for by the sweep.
    onStored: () => void queue.wake('apply').catch((error: unknown) => observer.jobFailed('apply', error)),
    onError: (error) => options.log.error({ err: error }, 'webhook could not be stored'),
  })
}

function checksOf(db: Database<Tables>, queue: Queue): Check[] {
  return [
    { part: 'database', ask: () => pingDatabase(db) },
    { part: 'queue', ask: queue.ping },
    { part: 'inbox', ask: () => refuseOldInbox(db) },
    { part: 'streams', ask: () => refuseStill(db) },
  ]
}

async function refuseOldInbox(db: Database<Tables>): Promise<void> {
  const seconds = await oldestPending(db)
  assert(seconds <= inboxOldestMaxSeconds, `nothing waits ${seconds} s to be applied`)
}

async function refuseStill(db: Database<Tables>): Promise<void> {
  const still = await stillStreams(db, streamAgeMaxSeconds)
  assert(
    still.length === 0,
    `every stream was read on within ${streamAgeMaxSeconds} s; not ${still.join(', ')}`,
  )
}

import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Settings } from '../config/settings.ts'
import { rulesOf } from '../core/decide.ts'
import type { Role } from '../core/health.ts'
import { createInboxWriter, writerLimits } from '../intake/inbox-writer.ts'
import { createLiveScheme, type LiveScheme } from '../intake/live-scheme.ts'
import { createQuarantine, quarantineLimits } from '../intake/quarantine.ts'
import { type Intake, intakeLimits, startIntake, transfersPath } from '../intake/server.ts'
import { activateRules } from '../jobs/books/activate-rules.ts'
import { throttleRuns } from '../jobs/queue/limit-runs.ts'
import { createQueue, type Queue, queueLimits } from '../jobs/queue/queue.ts'
import { sharedTicks, startSchedule, type Tick } from '../jobs/schedule.ts'
import { logEvent } from '../log/log-event.ts'
import { jobNames } from '../ops/metrics/service.ts'
import { createMetrics } from '../ops/metrics.ts'
import { createObserver, type Observer } from '../ops/observe.ts'
import { reportNotStored, reportStored } from '../ops/report-webhooks.ts'
import { startOps } from '../ops/server.ts'
import { type TraceRecorder, traceJobs, traceObserved } from '../ops/tracing/tracing.ts'
import { createEventIdReader } from '../provider/read-claim.ts'
import { switchCanary } from '../store/canary.ts'
import type { Database } from '../store/database.ts'
import { untilReached } from '../store/database-errors.ts'
import { keepValuation } from '../store/ledger/prices.ts'
import { keepQuarantined } from '../store/quarantine.ts'
import { claimTick, giveBackTick, releaseLeases, ticksGivenBack } from '../store/streams.ts'
import type { Tables } from '../store/tables.ts'
import { storeWebhooks } from '../store/webhooks.ts'
import { composeCanary, composeWrite } from './canary.ts'
import { composeConsole } from './console.ts'
import { prepareDatabase } from './database.ts'
import { composeBeats, composeReadiness } from './health.ts'
import { composeGauges, knownLabels, reportedBy, showLinks } from './metrics.ts'
import { loadServiceProfile } from './service-profile.ts'
import { composeTracing } from './tracing.ts'
import { composeWork, ticksOf } from './work.ts'

export type Daemon = {
  /** The URL that receives webhooks, without a trailing slash; null without the role `http`. */
  webhookUrl: string | null
  opsUrl: string
  /** Runs all pending work now, without waiting for ticks or wake-ups. */
  processAll: () => Promise<void>
  /** Reloads the webhook settings now. They are also checked every few seconds. */
  reloadWebhooks: () => void
  /** Refuses intake, lets running work finish, and closes in reverse order of starting. */
  stop: () => Promise<void>
}

export type DaemonOptions = {
  roles: readonly Role[]
  version: string
  log: Logger
  /** Reloads the settings; if absent, they never change. @throws Fault `settings_bad` */
  readSettings?: () => Settings
}

const workerConcurrency = 8
/**
 * All jobs except `read`, which reads one deposit by its id: it may have many wake-ups, and the poll reads the same.
 */
const recurring = new Set<string>(jobNames.filter((name) => name !== 'read'))

/**
 * Migrates the database if its user may, and starts the daemon's roles against the servers in the settings.
 * @throws Fault `settings_bad` or `remote_failed` that names the server and the problem
 */
export async function startDaemon(asked: Settings, options: DaemonOptions): Promise<Daemon> {
  await using starting = new AsyncDisposableStack()
  const holder = randomUUID()
  const metrics = createMetrics(options.version, knownLabels(asked))
  showLinks(metrics, asked.links)
  const observer = createObserver(metrics, options.log)
  const webhooks = composeScheme(asked, { ...options, observer })
  starting.defer(() => webhooks.stop())
  const ops = await startOps({ ...asked.ops, metrics, failed: observer.opsFailed })
  starting.defer(() => ops.stop())

  const { db, settings } = await prepareDatabase(asked, observer)
  starting.defer(() => db.destroy())
  starting.defer(() => releaseLeases(db, holder).catch(() => undefined))
  const tracing = await composeTracing(settings, { ...options, db })
  starting.defer(() => tracing.stop())
  const queue = await openQueue(settings, observer)
  starting.defer(() => queue.stop())
  const traced = traceObserved(tracing, observer)
  const { all, ...work } = composeWork(settings, { db, queue, holder, observer: traced })

  const beats = composeBeats({ db, queue, observer })
  const canary = composeCanary(settings, { db, queue, observer, metrics, log: options.log, webhooks })
  const jobs = { ...traceJobs(tracing, work), ...beats.jobs, ...canary.jobs }
  const ticks = [...ticksOf(settings, { queue, observer }), ...beats.ticks, ...canary.ticks]
  const has = (role: Role) => options.roles.includes(role)
  if (has('worker')) await applySettings(db, settings, { ...options, observer })
  if (has('worker')) startWork(queue, jobs, observer)
  const schedule = await startSchedule(has('scheduler') ? shareTicks(db, ticks) : [], troubleOf(options.log))
  starting.defer(() => schedule.stop())
  const readiness = starting.use(await composeReadiness(settings, { ...options, queue, webhooks }))
  const gauges = starting.use(composeGauges(settings, { queue, observer }))
  const shown = starting.use(composeConsole(settings, { ...options, read: gauges.read, readiness }))
  const receiving = { db, queue, observer, log: options.log, webhooks, tracing }
  const intake = has('http') ? await composeIntake(settings, receiving) : null
  starting.defer(() => intake?.stop())
  ops.open({ ...shown, read: canary.beside(() => gauges.read(reportedBy(options.roles))) })

  const running = starting.move()
  return {
    webhookUrl: intake === null ? null : intake.url + transfersPath,
    opsUrl: ops.url,
    processAll: all,
    reloadWebhooks: webhooks.reload,
    async stop() {
      ops.leave()
      await running.disposeAsync()
    },
  }
}

/** Starts the worker and wakes `apply` at once, so that stored deliveries do not wait for the next sweep. */
function startWork(queue: Queue, jobs: Parameters<Queue['work']>[0], { jobFailed }: Observer): void {
  queue.work(jobs, { concurrency: workerConcurrency })
  queue.wake('apply').catch((error: unknown) => jobFailed('apply', error))
}

function troubleOf(log: Logger): (error: unknown) => void {
  return (err) => logEvent(log, 'schedule_failed', { err })
}

function shareTicks(db: Database<Tables>, ticks: readonly Tick[]): Tick[] {
  return sharedTicks(ticks, {
    claim: (tick, quietMs) => claimTick(db, { tick, quietMs }),
    giveBack: (tick, claim) => giveBackTick(db, { tick, claim }),
    givenBack: () => ticksGivenBack(db),
  })
}

function openQueue({ queueUrl }: Settings, { queueTrouble, serverAwaited }: Observer): Promise<Queue> {
  const settings = { url: queueUrl, name: 'depositd', limits: queueLimits, recurring, report: queueTrouble }
  return untilReached(() => createQueue(settings), serverAwaited)
}

/** Decides deposits of an earlier policy again, and values amounts by the current settings. */
async function applySettings(
  db: Database<Tables>,
  settings: Settings,
  { log, observer }: { log: Logger; observer: Observer },
): Promise<void> {
  const isNew = await untilReached(async () => {
    await switchCanary(db, settings.canary !== null)
    await keepValuation(db, settings.valuation)
    return activateRules({ db, rules: rulesOf(settings), now: () => new Date() })
  }, observer.serverAwaited)
  if (isNew) logEvent(log, 'policy_changed')
}

/** Long enough to cost nothing, short enough for an operator who waits for the change. */
const settingsEveryMs = 2000

/** A wake-up costs as much as several webhooks, and the job it wakes takes every webhook that arrived meanwhile. */
const wakeEveryMs = 20

type SchemeReloadDeps = { readSettings?: () => Settings; observer: Observer }

/**
 * The verifier of webhooks, which follows its settings.
 * @throws Fault `settings_bad` if a secret or a key does not fit the scheme
 */
function composeScheme(settings: Settings, following: SchemeReloadDeps): LiveScheme {
  const { readSettings = () => settings, observer } = following
  return createLiveScheme(settings.webhooks, {
    read: () => readSettings().webhooks,
    everyMs: settingsEveryMs,
    now: () => new Date(),
    report: observer.webhookScheme,
  })
}

type AppIntakeDeps = {
  db: Database<Tables>
  queue: Queue
  observer: Observer
  log: Logger
  webhooks: LiveScheme
  tracing: TraceRecorder
}

/** Starts the webhook endpoint in front of the inbox and the quarantine. */
async function composeIntake(
  settings: Settings,
  { db, queue, observer, log, webhooks, tracing }: AppIntakeDeps,
): Promise<Intake> {
  const { trustedProxies, connectionsPerSource, quarantine: bounds } = settings.intake
  const writer = createInboxWriter({
    async store(rows) {
      const stored = await storeWebhooks(db, rows)
      observer.mismatches(stored.mismatches)
      reportStored(log, rows, stored)
      return stored.outcomes
    },
    ...writerLimits,
  })
  const quarantine = createQuarantine({
    store: (rows) => keepQuarantined(db, rows, bounds),
    limits: quarantineLimits,
    onDropped: observer.quarantineDropped,
    onError: (error) => logEvent(log, 'quarantine_not_stored', { err: error }),
  })
  // The sweep makes up for a failed wake-up.
  const wakeUps = throttleRuns(wakeEveryMs, () =>
    queue.wake('apply').catch((error: unknown) => observer.jobFailed('apply', error)),
  )
  const intake = await startIntake({
    ...settings.http,
    trustedProxies,
    limits: { ...intakeLimits, connectionsPerSourceMax: connectionsPerSource },
    verify: webhooks.verify,
    signing: webhooks.signing,
    secrets: webhooks.secrets,
    readEventId: createEventIdReader(loadServiceProfile(settings)),
    write: composeWrite(settings, db, writer.write),
    trace: tracing.webhook,
    quarantine: quarantine.keep,
    now: () => new Date(),
    observe: observer.webhook,
    onStored: wakeUps.ask,
    onError: reportNotStored(log),
  })
  return {
    url: intake.url,
    async stop() {
      await intake.stop()
      await wakeUps.stop()
      await quarantine.stop()
    },
  }
}

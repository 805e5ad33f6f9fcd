import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import type { Environment } from '../config/environment.ts'
import { hostOfConsole } from '../config/environment-settings.ts'
import { redactorOf } from '../config/secrets-of.ts'
import type { Settings } from '../config/settings.ts'
import { ruleSetOf } from '../core/rule-set.ts'
import type { Role } from '../health.ts'
import { transfersPath } from '../intake/server.ts'
import { activateRules } from '../jobs/books/activate-rules.ts'
import { createQueue, type Queue, queueLimits } from '../jobs/queue/queue.ts'
import { polledOf, sharedTicks, startSchedule, type Tick, ticksOf } from '../jobs/schedule.ts'
import { logEvent } from '../log/log-event.ts'
import { jobNames } from '../ops/metrics/daemon.ts'
import { createMetrics, type Metrics } from '../ops/metrics.ts'
import { createObserver, type Observer } from '../ops/observe.ts'
import { startOps } from '../ops/server.ts'
import { noTracing, type TraceRecorder, traceJobs, traceObserved } from '../ops/tracing/tracing.ts'
import { switchCanary } from '../store/canary.ts'
import type { Database } from '../store/database.ts'
import { untilReached } from '../store/database-errors.ts'
import { traceparentsOf } from '../store/inbox.ts'
import { keepValuation } from '../store/ledger/prices.ts'
import { claimTick, giveBackTick, releaseLeases, ticksGivenBack } from '../store/streams.ts'
import type { Tables } from '../store/tables.ts'
import { enterWork } from '../store/worker-lock.ts'
import { composeApi } from './api.ts'
import { composeCanary } from './canary.ts'
import { composeConsole } from './console.ts'
import { prepareDatabase } from './database.ts'
import { composeEvents } from './events.ts'
import { composeReadiness } from './health.ts'
import { composeIntake } from './intake.ts'
import { composeGauges, knownLabels, reportedBy, showLinks } from './metrics.ts'
import { composeNotifications } from './notifications.ts'
import { followServices, type Services } from './services.ts'
import { composeWork } from './work.ts'

export type Daemon = {
  /** Without a trailing slash; null without the role `http`. */
  webhookUrl: string | null
  opsUrl: string
  /** Null if it is off, or without the role `http`. */
  apiUrl: string | null
  /** Reads the settings of services again. They are also checked every few seconds. */
  reload: () => void
  stop: () => Promise<void>
}

export type DaemonOptions = {
  roles: readonly Role[]
  version: string
  log: Logger
  /** The policy of the settings then needs no approval. */
  isEmbedded?: boolean
  /** As the user made it, for the advice of the doctor. */
  environment?: Environment
  /** If absent, the settings never change. @throws Fault `settings_bad` */
  readSettings?: () => Settings
  /** If absent, a costly gauge is kept for up to two minutes. */
  gaugesKeptMaxMs?: number
}

const workerConcurrency = 8
/** Without those that may have many wake-ups: the poll and the audit read the same. */
const recurring = new Set<string>(jobNames.filter((name) => name !== 'read' && name !== 'wallet'))

/**
 * Migrates the database if its user may.
 * @throws Fault `settings_bad` or `remote_failed` that names the server and the problem
 */
export async function startDaemon(configured: Settings, options: DaemonOptions): Promise<Daemon> {
  await using starting = new AsyncDisposableStack()
  const holder = randomUUID()
  const metrics = openMetrics(configured, options.version)
  const observer = createObserver(metrics, options.log)
  const services = followServices(configured, { ...options, report: observer.settingsRead })
  starting.defer(services.stop)
  const ops = await openOps(configured, metrics, observer)
  starting.defer(() => ops.stop())

  const { db, settings } = await prepareDatabase(configured, observer)
  starting.defer(() => db.destroy())
  starting.defer(() => releaseLeases(db, holder).catch(() => undefined))
  const has = (role: Role) => options.roles.includes(role)
  if (has('worker')) starting.defer(await enterAsWorker(db, observer))
  const tracing = await composeTracing(settings, { ...options, db })
  starting.defer(() => tracing.stop())
  const queue = await openQueue(settings, observer)
  starting.defer(() => queue.stop())
  const traced = traceObserved(tracing, observer)
  const events = starting.use(await composeEvents(settings, { ...options, holder, observer }))
  const parts = { db, queue, services, holder, observer: traced, deliver: events.deliver }
  const { replay, ...work } = composeWork(settings, parts)
  const canary = composeCanary(settings, { db, queue, observer, metrics, services })
  const notifications = composeNotifications(settings, { db, queue, holder, observer })
  const jobs = { ...traceJobs(tracing, work), beat: work.beat, ...canary.jobs, ...notifications.jobs }
  const polled = () => polledOf(services.followed().services)
  const waking = { ...observer, db, services: polled, wake: queue.wake }
  const ticks = [...ticksOf(settings, waking), ...canary.ticks, ...notifications.ticks]
  if (has('worker')) await startWorker(settings, jobs, { ...options, db, queue, services, observer, replay })
  starting.defer(startSchedule(has('scheduler') ? shareTicks(db, ticks) : [], troubleOf(options.log)))
  const readiness = starting.use(await composeReadiness(settings, { ...options, queue, services }))
  const gauges = starting.use(composeGauges(settings, { ...options, queue, observer, metrics }))
  const shown = starting.use(composeConsole(settings, { ...options, ops, services, gauges, readiness }))
  const serving = { ...options, db, queue, observer, services, tracing, readiness }
  const served = has('http') ? await serveClients(settings, serving, starting) : unserved
  ops.open({ ...shown, read: canary.beside(() => gauges.read(reportedBy(options.roles))) })

  const running = starting.move()
  return {
    ...served,
    opsUrl: ops.url,
    reload: services.reload,
    async stop() {
      ops.leave()
      await running.disposeAsync()
    },
  }
}

function openOps({ ops, links }: Settings, metrics: Metrics, { opsFailed: failed }: Observer) {
  return startOps({ ...ops, publicHost: hostOfConsole(links), metrics, failed })
}

const unserved = { webhookUrl: null, apiUrl: null }

/** Webhooks of the service, and the API of the company. */
async function serveClients(
  settings: Settings,
  deps: Parameters<typeof composeIntake>[1] & Parameters<typeof composeApi>[1],
  starting: AsyncDisposableStack,
): Promise<Pick<Daemon, 'webhookUrl' | 'apiUrl'>> {
  const intake = await composeIntake(settings, deps)
  starting.defer(intake.stop)
  const api = await composeApi(settings, deps)
  starting.defer(() => api?.stop())
  return { webhookUrl: intake.url + transfersPath, apiUrl: api === null ? null : api.url }
}

function openMetrics(settings: Settings, version: string): Metrics {
  const metrics = createMetrics(version, knownLabels(settings))
  showLinks(metrics, settings.links)
  return metrics
}

function enterAsWorker(db: Database<Tables>, { serverAwaited }: Observer): Promise<() => Promise<void>> {
  return untilReached(() => enterWork(db, serverAwaited), serverAwaited)
}

type WorkerDeps = {
  db: Database<Tables>
  queue: Queue
  services: Services
  log: Logger
  isEmbedded?: boolean
  observer: Observer
  replay: () => Promise<void>
}

/**
 * The deposits of an earlier policy become due first. Wakes `apply`, so that stored deliveries do not wait for a sweep.
 */
async function startWorker(
  settings: Settings,
  jobs: Parameters<Queue['work']>[0],
  { db, queue, services, log, isEmbedded = false, observer, replay }: WorkerDeps,
): Promise<void> {
  const activate = async () => {
    const rules = ruleSetOf(services.followed())
    const activated = () => activateRules({ db, rules, withoutApproval: isEmbedded, now: () => new Date() })
    const outcome = await untilReached(activated, observer.serverAwaited)
    if (outcome === 'activated') logEvent(log, 'policy_changed')
    if (outcome === 'waiting') logEvent(log, 'policy_waiting')
    queue.wake('apply').catch((error: unknown) => observer.jobFailed('apply', error))
  }
  await untilReached(async () => {
    await switchCanary(db, settings.canary !== null)
    await keepValuation(db, settings.valuation)
  }, observer.serverAwaited)
  await activate()
  queue.work(jobs, { concurrency: workerConcurrency })
  services.onChange(() => void activate().then(replay).catch(troubleOf(log)))
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

type AppTracingDeps = { db: Database<Tables>; log: Logger; version: string }

/** Without a collector, OpenTelemetry is not even loaded. */
export async function composeTracing(
  settings: Settings,
  { db, log, version }: AppTracingDeps,
): Promise<TraceRecorder> {
  const { tracing } = settings
  if (tracing === null) return noTracing
  const { startTracing } = await import('../ops/tracing/otlp-tracing.ts')
  logEvent(log, 'tracing_started', { collector: new URL(tracing.url).host, ratio: tracing.ratio })
  return startTracing(tracing, {
    version,
    hide: redactorOf(settings).hide,
    traceparentsOf: (ids) => traceparentsOf(db, ids),
    onLost: (error) => logEvent(log, 'traces_not_sent', { err: error }),
  })
}

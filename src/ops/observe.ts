import type { Logger } from 'pino'
import { lineOf } from '../core/errors.ts'
import type { MeasuredLag } from '../core/lag.ts'
import { limitLines } from '../log/limit-lines.ts'
import { logEvent } from '../log/log-event.ts'
import type { MismatchChange } from '../store/mismatches/mismatches.ts'
import { helpWith } from './help-pages.ts'
import { type AppliedTrail, reportApplied } from './log-trail.ts'
import type { Exemplar } from './metrics/declare.ts'
import type { Metrics } from './metrics.ts'

type ObservedRpcRequest = { network: string; node: string; method: string; outcome: string; seconds: number }

type ObservedOddLog = { network: string; reason: string; contract: string; tx: string | null }

type ObservedUnreadTransaction = { network: string; reason: string; slot: bigint; tx: string | null }

type ObservedCanary = { outcome: string; seconds: number; problem: string | null }

type ObservedNotification = { channel: string; problem: string | null; tries: number }

type ObservedReading = { drifts: number; mismatches: readonly MismatchChange[] }

export type Observer = ReturnType<typeof createObserver>

/** Null if the mismatch opened. */
const ended: Record<MismatchChange['change'], 'evidence' | 'person' | null> = {
  opened: null,
  reopened: null,
  resolved: 'person',
  cleared: 'evidence',
}

/** Paths come from outside, so only this many characters are logged. */
const pathShown = 100

/** Counts each event of the daemon and, if it matters, logs it. */
export function createObserver(metrics: Metrics, log: Logger) {
  const mismatches = observeMismatches(metrics, log)
  const jobs = observeJobs(metrics, log)
  return {
    ...observeWebhooks(metrics, log),
    ...observeChains(metrics, log),
    ...jobs,
    pollRequest: (service: string, outcome: string): void => {
      metrics.pollRequests.inc({ service, outcome })
    },
    mismatches,
    applied: (applied: ObservedBatch): void => {
      const { lags, mismatches: changes } = applied
      for (const { stage, service, network, seconds, of } of lags)
        metrics.stageLag.observe({ stage, service: service ?? '', network }, seconds, exemplarOf(of))
      mismatches(changes)
      reportApplied(log, applied)
    },
    polled: (service: string, { drifts, mismatches: changes }: ObservedReading): void => {
      metrics.pollDrifts.inc({ service }, drifts)
      mismatches(changes)
    },
    events: {
      ...observeEvents(metrics, log),
      failed: (error: unknown): void => jobs.jobFailed('deliver', error),
    },
    opsFailed: (path: string, error: unknown): void => {
      logEvent(log, 'ops_request_failed', { path: path.slice(0, pathShown), err: error })
    },
    api: observeApi(metrics, log),
    gaugesUnreadable: (part: string, error: unknown): void => {
      logEvent(log, 'gauges_unreadable', { part, err: error })
    },
    serverAwaited: (error: unknown): void => {
      logEvent(log, 'server_awaited', { err: error })
    },
    notification: ({ channel, problem, tries }: ObservedNotification): void => {
      metrics.notifications.inc({
        channel: shownChannel(channel),
        outcome: problem === null ? 'sent' : 'failed',
      })
      if (problem !== null) logEvent(log, 'notification_failed', { channel, tries, problem })
    },
    canary: ({ outcome, seconds, problem }: ObservedCanary): void => {
      metrics.canaryWebhooks.inc({ outcome })
      if (problem === null) metrics.canaryWebhook.observe({}, seconds)
      else logEvent(log, 'canary_webhook_lost', { outcome, problem })
    },
  }
}

/** `seconds` is null for a request that may have waited for a change. */
type ApiAnswer = { call: string; status: number; seconds: number | null }

function observeApi(metrics: Metrics, log: Logger) {
  return {
    answered: ({ call, status, seconds }: ApiAnswer): void => {
      const isNamed = status === 304 || status === 429
      metrics.apiRequests.inc({ call, status: isNamed ? String(status) : `${Math.floor(status / 100)}xx` })
      if (seconds !== null) metrics.apiRequest.observe({ call }, seconds)
    },
    waiting: (count: number): void => metrics.apiWaiting.set({}, count),
    failed: (path: string, error: unknown): void => {
      logEvent(log, 'api_request_failed', { path: path.slice(0, pathShown), err: error })
    },
  }
}

/** Names of people are no labels. */
export function shownChannel(channel: string): string {
  return channel.replace(/\/.*/s, '')
}

/** `refused`: the changed settings cannot be used. */
export type SettingsReading =
  | {
      kind: 'opened' | 'changed' | 'unchanged'
      /** Signature schemes by service. */
      services: Readonly<Record<string, string>>
      /** Those that are not paused. */
      polled: readonly string[]
      /** Those whose webhooks are accepted without a signature. */
      unsigned: readonly string[]
      restart: readonly string[]
    }
  | { kind: 'refused'; error: unknown }

/** `event`: the sender's event id. `traceId`: set if requests are traced. */
type WebhookAnswer = {
  service: string
  outcome: string
  seconds: number
  reason?: string
  event?: string
  traceId?: string
}

const keptOutcomes = new Set(['stored', 'duplicate', 'conflicting', 'canary'])

function observeEvents(metrics: Metrics, log: Logger) {
  return {
    sent: (outcome: string, seconds: number): void => {
      metrics.eventAttempts.inc({ outcome })
      if (outcome === 'delivered') metrics.eventDelivery.observe({}, seconds)
    },
    stopped: (endpoint: string, reason: string): void => {
      logEvent(log, 'event_endpoint_stopped', { endpoint, reason })
    },
  }
}

/** @param now milliseconds */
export function observeWebhooks(metrics: Metrics, log: Logger, now = Date.now) {
  const limit = limitLines(now)
  return {
    webhook: ({ service, outcome, seconds, reason, event, traceId }: WebhookAnswer): void => {
      metrics.webhooks.inc({ service, outcome })
      metrics.webhookAck.observe({}, seconds, {
        ...(event !== undefined && { webhook: event }),
        ...(traceId !== undefined && { trace_id: traceId }),
      })
      const suppressed = keptOutcomes.has(outcome) ? null : limit()
      if (suppressed !== null) logEvent(log, 'webhook_refused', { service, outcome, reason, suppressed })
    },
    quarantineDropped: (reason: 'rate' | 'full'): void => {
      metrics.quarantineDropped.inc({ reason })
    },
    settingsRead: (reading: SettingsReading): void => {
      if (reading.kind === 'refused') {
        metrics.settingsChanges.inc({ outcome: 'refused' })
        logEvent(log, 'settings_refused', { err: reading.error })
        return
      }
      const { kind, services, polled, unsigned, restart } = reading
      metrics.follow({ named: Object.keys(services), polled })
      metrics.settingsChanges.inc({ outcome: 'used' }, kind === 'changed' ? 1 : 0)
      metrics.webhooksUnsigned.clear()
      for (const service of metrics.services.named)
        metrics.webhooksUnsigned.set({ service }, unsigned.includes(service) ? 1 : 0)
      logEvent(log, 'settings_read', {
        change: kind,
        services,
        restart: restart.length > 0 ? restart : undefined,
      })
      for (const service of unsigned) logEvent(log, 'webhooks_unsigned', { service })
    },
  }
}

function observeChains(metrics: Metrics, log: Logger) {
  return {
    rpc: ({ network, node, method, outcome, seconds }: ObservedRpcRequest): void => {
      metrics.rpcRequests.inc({ network, method, outcome })
      metrics.rpcNodeRequests.inc({ network, node, outcome })
      metrics.rpcSeconds.observe({ network, method }, seconds)
    },
    rpcNode: ({ network, node, score }: { network: string; node: string; score: number }): void => {
      metrics.rpcNodeScore.set({ network, node }, score)
    },
    oddLog: ({ network, reason, contract, tx }: ObservedOddLog): void => {
      metrics.chainLogsPassedOver.inc({ network, reason })
      logEvent(log, 'transfer_log_malformed', { network, reason, contract, tx })
    },
    unread: ({ network, reason, slot, tx }: ObservedUnreadTransaction): void => {
      logEvent(log, 'transaction_unread', { network, reason, slot: slot.toString(), tx })
    },
    rewound: (network: string): void => {
      metrics.chainReorgs.inc({ network })
      logEvent(log, 'history_changed', { network })
    },
  }
}

function observeMismatches(metrics: Metrics, log: Logger) {
  return (changes: readonly MismatchChange[]): void => {
    for (const { kind, severity, service: about, network, change } of changes) {
      const how = ended[change]
      const service = about ?? ''
      if (how === null) metrics.mismatchesOpened.inc({ kind, severity, service, network: network ?? '' })
      else metrics.mismatchesResolved.inc({ kind, service, how })
      logEvent(log, 'mismatch_changed', { kind, severity, service: about, network, change })
    }
  }
}

type ObservedBatch = AppliedTrail & { lags: readonly MeasuredLag[]; mismatches: readonly MismatchChange[] }

function exemplarOf(of: MeasuredLag['of']): Exemplar {
  return 'depositId' in of ? { deposit_id: of.depositId.toString() } : { inbox: `inbox/${of.inboxId}` }
}

type QueueTrouble = { kind: string; error?: unknown; wake?: { name: string; key?: string } }

/** Every failure is counted, but a problem is logged when it first occurs. */
export function observeJobs(metrics: Metrics, log: Logger, now = () => performance.now()) {
  const problems = createProblems(now)
  /** A run failed, or could not be queued. `key` names its network; empty for other jobs. */
  const jobFailed = (job: string, error: unknown, key = ''): void => {
    metrics.jobFailures.inc({ name: job })
    const problem = lineOf(error)
    const failures = problems.noted(`job ${key} ${problem}`)
    if (failures === null) return
    logEvent(log, 'job_failed', { job, key, problem, help: helpWith(job, error), failures, err: error })
  }
  return {
    jobFailed,
    queueTrouble: ({ kind, error, wake }: QueueTrouble): void => {
      if (kind === 'job_failed') {
        jobFailed(wake?.name ?? '', error, wake?.key)
        return
      }
      const failures = problems.noted(`queue ${kind} ${lineOf(error)}`)
      if (failures !== null) logEvent(log, 'queue_failed', { kind, failures, err: error })
    },
  }
}

/** A problem that has not occurred for this long is over: no pause between two attempts is as long. */
const overAfterMs = 300_000
const remindAfterMs = 3_600_000
/** Problems with ever-changing texts push out others. */
const problemsMax = 200

type JobFailureTally = { failures: number; seenAt: number; loggedAt: number }

/** The number of failures if the problem has to be logged now, otherwise null. */
function createProblems(now: () => number): { noted: (text: string) => number | null } {
  const known = new Map<string, JobFailureTally>()
  return {
    noted(text) {
      const at = now()
      const shape = shapeOf(text)
      const before = known.get(shape)
      const isOver = before === undefined || at - before.seenAt > overAfterMs
      const failures = isOver ? 1 : before.failures + 1
      const isLogged = !isOver && at - before.loggedAt < remindAfterMs
      known.delete(shape)
      known.set(shape, { failures, seenAt: at, loggedAt: isLogged ? before.loggedAt : at })
      const [oldest] = known.keys()
      if (known.size > problemsMax && oldest !== undefined) known.delete(oldest)
      return isLogged ? null : failures
    },
  }
}

/** Heights, times, counts and ids differ from one attempt to the next. */
function shapeOf(text: string): string {
  return text.replaceAll(/[\w-]*\d[\w-]*/g, '#').slice(0, 1000)
}

import {
  type IQueueBackend,
  type Job,
  type JobProgress,
  type JobsOptions,
  type QueueGetters,
  Worker,
} from 'bullmq'
import { messageOf } from '../../core/errors.ts'
import { within } from '../within.ts'

export type WakeData = { key: string }

/** The hash tag puts all keys into one slot of a Redis cluster. */
export const queueOptions = {
  prefix: '{depositd}',
  skipMetasUpdate: false,
  streams: { events: { maxLen: 100 } },
} as const

/**
 * Deduplicates by name and key, not by job id: BullMQ ignores an id whose job is active, which would lose wake-ups.
 * With `keepLastIfActive`, they become a job when the active one ends.
 */
export function wakeOptions({ name, key }: Wake, { limits, recurring }: QueueSettings): JobsOptions {
  return {
    deduplication: { id: `${name}/${key}`, keepLastIfActive: true },
    attempts: recurring?.has(name) ? recurringAttempts : limits.attempts,
    backoff: { type: 'growing' },
    removeOnComplete: true,
    removeOnFail: true,
    stackTraceLimit: 0,
  }
}

/** Lasts for months. */
const recurringAttempts = 1_000_000

function pauseAfter(attempts: number, { retryDelayMs, retryDelayMaxMs }: QueueLimits): number {
  return Math.min(retryDelayMs * 2 ** Math.min(attempts - 1, 20), retryDelayMaxMs)
}

/**
 * Jobs remove themselves, except if their record was lost. `removeOnFail` removes those too: their remains would block
 * their wake-up for ever.
 */
export function workerOptions(limits: QueueLimits) {
  const { lockMs, stalledCheckMs, reconnectDelayMs } = limits
  return {
    removeOnFail: { count: 0 },
    settings: { backoffStrategy: (attempts: number) => pauseAfter(attempts, limits) },
    lockDuration: lockMs,
    stalledInterval: stalledCheckMs,
    runRetryDelay: reconnectDelayMs,
  }
}

/** Its timers can be stopped while its jobs still run. */
export class CuttableWorker<B extends IQueueBackend, Connection> extends Worker<
  WakeData,
  void,
  string,
  B,
  JobProgress,
  Connection
> {
  async abandonJobs(): Promise<void> {
    await this.lockManager.close()
    await this.pause(true)
  }
}

/** While the server is down, BullMQ would wait for ever. */
const farewellMs = 1000

type StoppableWorker<B extends IQueueBackend, Connection> = {
  worker: CuttableWorker<B, Connection>
  runs: Runs
  cut: () => Promise<void>
}

export function runningWorker<B extends IQueueBackend, Connection>(
  { worker, runs, cut }: StoppableWorker<B, Connection>,
  { limits, report }: QueueSettings,
): RunningWorker {
  worker.on('error', (error) => report({ kind: 'connection_failed', error }))
  worker.on('failed', (job, error) => {
    if (job !== undefined) report(jobFailed(job, error))
  })
  return {
    async stop() {
      try {
        const closed = worker.close()
        const idleAndClosed = runs.idle().then(() => within(farewellMs, 'closing a worker', closed))
        await within(limits.stopTimeoutMs, 'stopping a worker', Promise.race([closed, idleAndClosed]))
      } catch {
        await worker.abandonJobs()
        await cut()
      }
    },
  }
}

function jobFailed(job: Job<WakeData>, error: Error): QueueEvent {
  const dropped = job.attemptsMade >= (job.opts.attempts ?? 1)
  return { kind: 'job_failed', wake: wakeOf(job), error, dropped }
}

/** Untrusted: any holder of the queue's credentials may have written it. */
export function wakeOf({ name, data }: Pick<Job<unknown>, 'name' | 'data'>): Wake {
  const key = typeof data === 'object' && data !== null && 'key' in data ? data.key : ''
  return { name, key: typeof key === 'string' ? key : '' }
}

type JobCounter = { getJobCounts: (...states: QueueState[]) => Promise<Record<string, number>> }

export async function countJobs(queue: JobCounter): Promise<Record<QueueState, number>> {
  const counts = await queue.getJobCounts(...queueStates)
  const { waiting = 0, active = 0, delayed = 0, failed = 0, completed = 0 } = counts
  return { waiting, active, delayed, failed, completed }
}

/** More than synchronised clocks differ. */
const aheadMs = 60_000
const promotedMax = 100

/** A retry is due by the clock of the process that failed, even if that clock was ahead. */
export async function promoteFromFuture(queue: Pick<QueueGetters, 'getJobs'>): Promise<void> {
  const last = await queue.getJobs(['delayed'], 0, promotedMax - 1, false)
  const ahead = last.filter(({ processedOn = 0 }) => processedOn > Date.now() + aheadMs)
  for (const job of ahead) await job.promote()
}

const repeatAfterMs = 10_000

export function calmly(report: QueueSettings['report']): QueueSettings['report'] {
  let last = { text: '', at: Number.NEGATIVE_INFINITY }
  return (event) => {
    if (event.kind === 'connection_failed' || event.kind === 'schema_unusable') {
      const text = messageOf(event.error)
      const at = performance.now()
      if (text === last.text && at - last.at < repeatAfterMs) return
      last = { text, at }
    }
    report(event)
  }
}

/** The subject `key` is a network, a stream, or empty. */
export type Wake = { name: string; key: string }

/** Finished jobs are removed: `failed` or `completed` jobs come from another program. */
export const queueStates = ['waiting', 'active', 'delayed', 'failed', 'completed'] as const
export type QueueState = (typeof queueStates)[number]

/** The queue recovers by itself. */
export type QueueEvent =
  | { kind: 'connection_failed'; error: unknown }
  /** `dropped`: only a new wake-up runs the job again. */
  | { kind: 'job_failed'; wake: Wake; error: unknown; dropped: boolean }
  /** Postgres: missing or another version. It is recreated if the user may do so. */
  | { kind: 'schema_unusable'; error: unknown }
  | { kind: 'schema_made' }
  | { kind: 'worker_replaced' }
  /** Redis: the policy must be `noeviction`. */
  | { kind: 'eviction_policy_unknown' }

export type QueueLimits = {
  attempts: number
  retryDelayMs: number
  retryDelayMaxMs: number
  /** A worker silent for this long loses its job. */
  lockMs: number
  stalledCheckMs: number
  /** How long jobs may wait at an idle worker, which is then replaced. */
  stuckMs: number
  reconnectDelayMs: number
  answerTimeoutMs: number
  stopTimeoutMs: number
}

export type QueueSettings = {
  url: string
  /** Processes with the same name share the jobs. */
  name: string
  limits: QueueLimits
  /**
   * Jobs with few keys. Wake-ups are retried until they succeed, with growing pauses that further wake-ups do not
   * shorten.
   */
  recurring?: ReadonlySet<string>
  report: (event: QueueEvent) => void
}

export type Runs = {
  run: (wake: Wake) => Promise<void>
  active: () => number
  progress: () => number
  idle: () => Promise<void>
}

export type RunningWorker = {
  stop: () => Promise<void>
}

export type Backend = {
  add: (wake: Wake) => Promise<void>
  counts: () => Promise<Record<QueueState, number>>
  /**
   * Resolves to a warning about a working server; null if there is none.
   * @throws Fault `remote_failed` if the server cannot be used
   */
  danger: () => Promise<string | null>
  /** Called regularly. Recreates what the server lost, and promotes jobs delayed by a clock that was ahead. */
  keepUp: () => Promise<void>
  startWorker: (runs: Runs, concurrency: number) => RunningWorker
  close: () => Promise<void>
}

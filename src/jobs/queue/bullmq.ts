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

/** The hash tag in `prefix` puts all keys of the queue into one slot of a Redis cluster. */
export const queueOptions = {
  prefix: '{depositd}',
  skipMetasUpdate: false,
  streams: { events: { maxLen: 100 } },
} as const

/**
 * Wake-ups are deduplicated by name and key, not by job id: BullMQ ignores an id whose job is active, which would lose
 * wake-ups during a run. With `keepLastIfActive`, such a wake-up becomes a job when the active one ends.
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

/** Lasts for months at any length of pauses. */
const recurringAttempts = 1_000_000

/** Doubles from the first pause up to the longest. */
function pauseAfter(attempts: number, { retryDelayMs, retryDelayMaxMs }: QueueLimits): number {
  return Math.min(retryDelayMs * 2 ** Math.min(attempts - 1, 20), retryDelayMaxMs)
}

/**
 * Each job's own options remove it when it ends, except if its record was lost. `removeOnFail` here removes that one
 * too: it fails because its purpose is unknown, and if its remains were kept, its wake-up could never become a job
 * again.
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

/** A worker whose timers can be stopped while its jobs still run. */
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

/** How long a worker without jobs may take to close. While its server is down, BullMQ would wait for ever. */
const farewellMs = 1000

type StoppableWorker<B extends IQueueBackend, Connection> = {
  worker: CuttableWorker<B, Connection>
  runs: Runs
  /** Closes the worker's connections, including active ones. */
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

/** The payload is untrusted: any holder of the queue's credentials may have written it. */
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

/** A retry is due by the clock of the process that failed, even if that clock was ahead. Promotes such jobs. */
export async function promoteFromFuture(queue: Pick<QueueGetters, 'getJobs'>): Promise<void> {
  const last = await queue.getJobs(['delayed'], 0, promotedMax - 1, false)
  const ahead = last.filter(({ processedOn = 0 }) => processedOn > Date.now() + aheadMs)
  for (const job of ahead) await job.promote()
}

const repeatAfterMs = 10_000

/** Reports the first of equal connection errors and drops repetitions shortly after it. */
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

/** One wake-up: the job, and its subject (a network, a stream, or nothing). It carries no data. */
export type Wake = { name: string; key: string }

/** Finished jobs are removed at once. If `failed` or `completed` is not zero, another program adds jobs. */
export const queueStates = ['waiting', 'active', 'delayed', 'failed', 'completed'] as const
export type QueueState = (typeof queueStates)[number]

/** Events worth reporting. The queue recovers by itself. */
export type QueueEvent =
  | { kind: 'connection_failed'; error: unknown }
  /** `dropped`: it was the last attempt. Only a new wake-up runs the job again. */
  | { kind: 'job_failed'; wake: Wake; error: unknown; dropped: boolean }
  /** Postgres only: the schema is missing or has another version. It is recreated if the user may do so. */
  | { kind: 'schema_unusable'; error: unknown }
  /** The schema was missing or outdated and was recreated. Waiting wake-ups were lost with it. */
  | { kind: 'schema_made' }
  /** Jobs waited and the worker took none, so it was replaced. */
  | { kind: 'worker_replaced' }
  /** The Redis server does not report its `maxmemory-policy`; it must be `noeviction`. */
  | { kind: 'eviction_policy_unknown' }

export type QueueLimits = {
  /** Attempts before a wake-up is dropped, except for recurring jobs. */
  attempts: number
  /** Delay before the second attempt. Doubles up to the maximum. */
  retryDelayMs: number
  retryDelayMaxMs: number
  /** A worker silent for this long loses its job to another. */
  lockMs: number
  stalledCheckMs: number
  /** How long jobs may wait at an idle worker before it is replaced. */
  stuckMs: number
  /** The longest pause between two attempts to connect. */
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
   * Jobs with few keys that are requested regularly. Their wake-ups are retried until they succeed. The pauses grow,
   * and further wake-ups of the key do not shorten them.
   */
  recurring?: ReadonlySet<string>
  report: (event: QueueEvent) => void
}

export type Runs = {
  run: (wake: Wake) => Promise<void>
  /** Number of active runs. */
  active: () => number
  /** Grows with every start and every end of a run. */
  progress: () => number
  /** Resolves once no run is active. */
  idle: () => Promise<void>
}

export type RunningWorker = {
  /** Lets active jobs finish within the limit, then cuts the connections. */
  stop: () => Promise<void>
}

/** Operations that a server must provide. */
export type Backend = {
  add: (wake: Wake) => Promise<void>
  counts: () => Promise<Record<QueueState, number>>
  /**
   * Returns a warning about a working server; null if there is none.
   * @throws Fault `remote_failed` if the server cannot be used
   */
  danger: () => Promise<string | null>
  /**
   * Called regularly while a worker runs. Recreates what the server lost, and promotes jobs delayed by a process whose
   * clock was ahead; otherwise they would wait until real time catches up.
   */
  keepUp: () => Promise<void>
  startWorker: (runs: Runs, concurrency: number) => RunningWorker
  close: () => Promise<void>
}

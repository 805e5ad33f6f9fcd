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
import {
  type QueueEvent,
  type QueueLimits,
  type QueueSettings,
  type QueueState,
  queueStates,
  type RunningWorker,
  type Runs,
  type Wake,
} from './queue-port.ts'

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

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

/** `prefix` has a hash tag: all keys of the queue live in one slot of a Redis cluster. */
export const queueOptions = {
  prefix: '{depositd}',
  skipMetasUpdate: false,
  streams: { events: { maxLen: 100 } },
} as const

/**
 * A wake-up is known by what it asks for, not by a job id: an id says nothing while its job is active, so that
 * a wake-up in that time would be lost. With `keepLastIfActive` it becomes a job when the active one ends.
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

/** For months, whatever the pauses are. */
const recurringAttempts = 1_000_000

/** Doubled each time, from the first pause to the longest. */
function pauseAfter(attempts: number, { retryDelayMs, retryDelayMaxMs }: QueueLimits): number {
  return Math.min(retryDelayMs * 2 ** Math.min(attempts - 1, 20), retryDelayMaxMs)
}

/**
 * Each job says that nothing of it is kept, save one whose record was lost. That one fails, for nobody knows what it asks
 * for: were what little is written of it kept, its wake-up would never become a job again.
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

/** A worker whose timers can be ended although its jobs do not end. */
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

/** How long a worker with no job may take to close; while its server is away BullMQ would take for ever. */
const farewellMs = 1000

type StoppableWorker<B extends IQueueBackend, Connection> = {
  worker: CuttableWorker<B, Connection>
  runs: Runs
  /** Closes the worker's connections, whatever is still under way on them. */
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

/** Whoever has the login of the queue may have put anything there. */
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

/** By more than clocks differ that are kept. */
const aheadMs = 60_000
const promotedMax = 100

/** What is to be tried again is due by the clock of the process that failed, and waits for it even if that was wrong. */
export async function promoteFromFuture(queue: Pick<QueueGetters, 'getJobs'>): Promise<void> {
  const last = await queue.getJobs(['delayed'], 0, promotedMax - 1, false)
  const ahead = last.filter(({ processedOn = 0 }) => processedOn > Date.now() + aheadMs)
  for (const job of ahead) await job.promote()
}

const repeatAfterMs = 10_000

/** Passes on the first of equal connection errors and leaves out those soon after it. */
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

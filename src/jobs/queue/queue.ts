import { Fault } from '../../core/errors.ts'
import { within } from '../within.ts'
import {
  type Backend,
  calmly,
  type QueueLimits,
  type QueueSettings,
  type QueueState,
  type RunningWorker,
  type Runs,
  type Wake,
} from './bullmq.ts'
import { coalesceRuns } from './limit-runs.ts'
import { openPostgresQueue } from './postgres.ts'
import { openRedisQueue } from './redis.ts'

export type Queue = {
  /**
   * Across all processes, at most one run per key waits and one is active; a wake-up during a run causes one more.
   * Resolves once stored.
   * @throws soon if the server does not answer; the sweep requests the run again
   */
  wake: (name: string, key?: string) => Promise<void>
  /** Call once. */
  work: (handlers: QueueJobHandlers, options: { concurrency: number }) => void
  counts: () => Promise<Record<QueueState, number>>
  /** Null if there is no warning. @throws if the server does not answer, or its queue schema cannot be used */
  ping: () => Promise<string | null>
  stop: () => Promise<void>
}

export const queueLimits: QueueLimits = {
  attempts: 3,
  retryDelayMs: 1000,
  // Work resumes within 30 s after the cause of a failure ends.
  retryDelayMaxMs: 15_000,
  lockMs: 15_000,
  stalledCheckMs: 5000,
  stuckMs: 30_000,
  reconnectDelayMs: 2000,
  answerTimeoutMs: 5000,
  stopTimeoutMs: 10_000,
}

/**
 * Carries only wake-ups: losing them costs time, never data.
 * @throws Fault `settings_bad` if the URL or the configuration of the server is unsuitable; `remote_failed` if the
 * server does not answer
 */
export async function createQueue(options: QueueSettings): Promise<Queue> {
  const settings = { ...options, report: calmly(options.report) }
  const { limits } = settings
  const backend = await openBackend(settings)
  const addOnce = coalesceRuns()
  let worker: RunningWorker | undefined
  let stopped: Promise<void> | undefined
  const stop = async () => {
    await worker?.stop()
    await backend.close()
  }
  const counts = () => within(limits.answerTimeoutMs, 'counting jobs', backend.counts())

  return {
    wake: (name, key = '') =>
      addOnce(`${name}/${key}`, () =>
        within(limits.answerTimeoutMs, 'waking a job', backend.add({ name, key })),
      ),
    work(handlers, { concurrency }) {
      worker = keepWorking(backend, settings, { handlers, concurrency })
    },
    counts,
    async ping() {
      const danger = await within(limits.answerTimeoutMs, 'checking the queue server', backend.danger())
      await counts()
      return danger
    },
    stop: () => (stopped ??= stop()),
  }
}

function openBackend(settings: QueueSettings): Promise<Backend> {
  const scheme = URL.canParse(settings.url) ? new URL(settings.url).protocol : ''
  if (scheme === 'redis:' || scheme === 'rediss:') return openRedisQueue(settings)
  if (scheme === 'postgres:' || scheme === 'postgresql:') return openPostgresQueue(settings)
  const fault = 'QUEUE_URL must start with redis://, rediss://, postgres:// or postgresql://'
  return Promise.reject(new Fault('settings_bad', { faults: [fault] }))
}

/** Each receives the key and must be safe to run twice. */
type QueueJobHandlers = Readonly<Record<string, (key: string) => Promise<void>>>

type QueueWorkerOptions = { handlers: QueueJobHandlers; concurrency: number }

function keepWorking(backend: Backend, settings: QueueSettings, working: QueueWorkerOptions): RunningWorker {
  const { limits, report } = settings
  const runs = countRuns(working.handlers)
  let worker = backend.startWorker(runs, working.concurrency)
  const replaced = new Set<Promise<void>>()

  const check = createWatchdog({
    progress: runs.progress,
    busy: () => runs.active() >= working.concurrency,
    waiting: async () => (await backend.counts()).waiting,
    replace: () => {
      report({ kind: 'worker_replaced' })
      const stopped = worker.stop()
      replaced.add(stopped)
      void stopped.catch(() => undefined).finally(() => replaced.delete(stopped))
      worker = backend.startWorker(runs, working.concurrency)
    },
  })
  // The connection's own events report a server that does not answer.
  const look = () => Promise.all([check(), backend.keepUp()]).catch(() => undefined)
  const timer = setInterval(() => void look(), limits.stuckMs / 3)

  return {
    async stop() {
      clearInterval(timer)
      await Promise.all([worker.stop(), ...replaced])
    },
  }
}

function countRuns(handlers: QueueJobHandlers): Runs {
  let begun = 0
  let ended = 0
  let idle = Promise.withResolvers<void>()
  idle.resolve()

  async function run({ name, key }: Wake): Promise<void> {
    if (begun++ === ended) idle = Promise.withResolvers()
    try {
      const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined
      if (handler === undefined) throw new Error(`no handler for ${name}`)
      await handler(key)
    } finally {
      if (begun === ++ended) idle.resolve()
    }
  }
  return { run, active: () => begun - ended, progress: () => begun + ended, idle: () => idle.promise }
}

const suspicionsMax = 3

type WatchdogTarget = {
  progress: () => number
  busy: () => boolean
  waiting: () => Promise<number>
  replace: () => void
}

/**
 * BullMQ workers took no jobs after an outage of their server (taskforcesh/bullmq#4585). Call the returned function at
 * regular intervals.
 */
export function createWatchdog({ progress, busy, waiting, replace }: WatchdogTarget): () => Promise<void> {
  let seen = progress()
  let suspicions = 0

  return async () => {
    const idle = progress() === seen && !busy()
    seen = progress()
    const neglected = idle && (await waiting()) > 0 && progress() === seen
    suspicions = neglected ? suspicions + 1 : 0
    if (suspicions < suspicionsMax) return
    suspicions = 0
    replace()
  }
}

import { createRedisBackend, Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { Fault, messageOf } from '../../core/errors.ts'
import { within } from '../within.ts'
import {
  CuttableWorker,
  countJobs,
  queueOptions,
  runningWorker,
  type WakeData,
  wakeOf,
  wakeOptions,
  workerOptions,
} from './queue-bullmq.ts'
import type { Backend, QueueSettings } from './queue-port.ts'

/**
 * Producers fail at once while Redis is away; workers wait for it.
 * @throws Fault `remote_failed` where Redis does not answer; `settings_bad` where it may evict keys.
 */
export async function openRedisQueue(settings: QueueSettings): Promise<Backend> {
  const { name, limits, report } = settings
  await checkServer(settings)
  const queue = new Queue<WakeData>(name, { ...queueOptions, connection: producerConnection(settings) })
  queue.on('error', (error) => report({ kind: 'connection_failed', error }))
  await within(limits.answerTimeoutMs, 'Redis', queue.waitUntilReady())

  return {
    async add(wake) {
      await queue.add(wake.name, { key: wake.key }, wakeOptions(wake, limits))
    },
    counts: () => countJobs(queue),
    startWorker(runs, concurrency) {
      const options = {
        ...queueOptions,
        ...workerOptions(limits),
        connection: workerConnection(settings),
        concurrency,
      }
      const worker = new CuttableWorker(name, (job) => runs.run(wakeOf(job)), options, createRedisBackend)
      return runningWorker({ worker, runs, cut: () => cutRedis(worker.getBackend()) }, settings)
    },
    close: () => cutRedis(queue.getBackend()),
  }
}

type Closable = { close: (force: boolean) => Promise<void> }

/** Not through the worker's own `disconnect`: that waits for an event that a client without a socket never sends. */
async function cutRedis(backend: { connection: Closable; blockingConnection?: Closable }): Promise<void> {
  await backend.blockingConnection?.close(true)
  await backend.connection.close(true)
}

function producerConnection(settings: QueueSettings) {
  return {
    ...eitherConnection(settings),
    enableOfflineQueue: false,
    maxRetriesPerRequest: 1,
    commandTimeout: settings.limits.answerTimeoutMs,
  }
}

function workerConnection(settings: QueueSettings) {
  return { ...eitherConnection(settings), maxRetriesPerRequest: null }
}

function eitherConnection({ url, limits }: QueueSettings) {
  return {
    url,
    connectTimeout: limits.answerTimeoutMs,
    retryStrategy: (attempt: number) => Math.min(50 * 2 ** Math.min(attempt, 10), limits.reconnectDelayMs),
  }
}

async function checkServer({ url, limits, report }: QueueSettings): Promise<void> {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    connectTimeout: limits.answerTimeoutMs,
  })
  let cause: unknown
  redis.on('error', (error) => {
    cause = error
  })
  try {
    await within(limits.answerTimeoutMs, 'Redis', redis.connect())
    const policy = evictionPolicy(await redis.info('memory'))
    if (policy === undefined) report({ kind: 'eviction_policy_unknown' })
    else if (policy !== 'noeviction') throw new Fault('settings_bad', { faults: [evictionFault(policy)] })
  } catch (error) {
    if (error instanceof Fault) throw error
    const what = `connecting to QUEUE_URL (${new URL(url).host})`
    throw new Fault('remote_failed', { what, problem: messageOf(cause ?? error) }, { cause: cause ?? error })
  } finally {
    redis.disconnect()
  }
}

/** From INFO, since servers run by others often refuse CONFIG. */
function evictionPolicy(info: string): string | undefined {
  return /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
}

function evictionFault(policy: string): string {
  return `QUEUE_URL: the Redis server has maxmemory-policy ${policy} and would drop wake-ups: set maxmemory-policy noeviction there`
}

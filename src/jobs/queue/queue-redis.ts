import { createRedisBackend, Queue } from 'bullmq'
import { Cluster } from 'ioredis'
import { within } from '../within.ts'
import {
  CuttableWorker,
  countJobs,
  promoteFromFuture,
  queueOptions,
  runningWorker,
  type WakeData,
  wakeOf,
  wakeOptions,
  workerOptions,
} from './queue-bullmq.ts'
import type { Backend, QueueSettings } from './queue-port.ts'
import { evictionProblem, findRedis, type RedisPlace } from './redis-place.ts'

/**
 * Producers fail soon while Redis is away; workers wait for it.
 * @throws Fault `remote_failed` where Redis does not answer; `settings_bad` where it may evict keys.
 */
export async function openRedisQueue(settings: QueueSettings): Promise<Backend> {
  const { name, limits, report } = settings
  const place = await findRedis(settings)
  const producing = connectionTo(place, settings, producerUse(settings))
  const queue = new Queue<WakeData>(name, { ...queueOptions, connection: producing })
  queue.on('error', (error) => report({ kind: 'connection_failed', error }))
  await within(limits.answerTimeoutMs, 'Redis', queue.waitUntilReady())

  return {
    async add(wake) {
      await queue.add(wake.name, { key: wake.key }, wakeOptions(wake, settings))
    },
    counts: () => countJobs(queue),
    async danger() {
      const client = await queue.getBackend().connection.client
      const infos = client instanceof Cluster ? await infosOf(client) : [await client.info()]
      return infos.map(evictionProblem).find((problem) => problem !== null) ?? null
    },
    // Locks are by the clock of Redis.
    keepUp: () => promoteFromFuture(queue),
    startWorker(runs, concurrency) {
      const connection = connectionTo(place, settings, workerUse)
      const options = { ...queueOptions, ...workerOptions(limits), connection, concurrency }
      const worker = new CuttableWorker(name, (job) => runs.run(wakeOf(job)), options, createRedisBackend)
      const running = runningWorker({ worker, runs, cut: () => cutRedis(worker.getBackend()) }, settings)
      return { stop: () => running.stop().finally(() => cutCluster(connection)) }
    },
    close: () => cutRedis(queue.getBackend()).finally(() => cutCluster(producing)),
  }
}

/** Of every node that answers, since any may hold the queue in time. Where none does, the cluster is away. */
async function infosOf(cluster: Cluster): Promise<string[]> {
  const nodes = cluster.nodes('all')
  const asked = await Promise.allSettled(nodes.map((node) => node.info('memory')))
  const infos = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  return infos.length > 0 ? infos : [await cluster.info('memory')]
}

type Closable = { close: (force: boolean) => Promise<void> }

/** Not through the worker's own `disconnect`: that waits for an event that a client without a socket never sends. */
async function cutRedis(backend: { connection: Closable; blockingConnection?: Closable }): Promise<void> {
  await backend.blockingConnection?.close(true)
  await backend.connection.close(true)
}

type QueueRedisConnection = ReturnType<typeof connectionTo>

/** A client of a cluster is ours: BullMQ closes the copies that it makes of it, and nothing else. */
function cutCluster(connection: QueueRedisConnection): void {
  if (connection instanceof Cluster) connection.disconnect()
}

type Use = { enableOfflineQueue: boolean; maxRetriesPerRequest: number | null; commandTimeout?: number }

const workerUse: Use = { enableOfflineQueue: true, maxRetriesPerRequest: null }

function producerUse({ limits }: QueueSettings): Use {
  return { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: limits.answerTimeoutMs }
}

function connectionTo(place: RedisPlace, { url, limits }: QueueSettings, use: Use) {
  const retryStrategy = (attempt: number) =>
    Math.min(50 * 2 ** Math.min(attempt, 10), limits.reconnectDelayMs)
  const connectTimeout = limits.answerTimeoutMs
  if (place.kind === 'server') return { url, connectTimeout, retryStrategy, ...use }
  const { enableOfflineQueue, ...each } = use
  const cluster = new Cluster([...place.nodes], {
    enableOfflineQueue,
    clusterRetryStrategy: retryStrategy,
    // Not each node by itself: what waits at one that is gone for good would wait for ever, rather than be sent to its heir.
    clusterNodeRetryStrategy: null,
    slotsRefreshTimeout: limits.answerTimeoutMs,
    // Certificates bear the names by which the nodes tell of each other.
    dnsLookup: (address, callback) => callback(null, address),
    redisOptions: { ...place.options, connectTimeout, ...each },
  })
  // BullMQ passes its errors on; once it has let go of the client, there is nobody to be told.
  cluster.on('error', () => undefined)
  return cluster
}

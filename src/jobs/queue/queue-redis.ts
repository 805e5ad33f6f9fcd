import { createRedisBackend, Queue } from 'bullmq'
import { Cluster, Redis } from 'ioredis'
import { Fault, isFault, messageOf } from '../../core/errors.ts'
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

type RedisNode = { host: string; port: number }

/** What all nodes of a cluster are spoken to with; their addresses are their own. */
type NodeOptions = ReturnType<typeof nodeOptions>

/** What stands behind `QUEUE_URL`. */
type RedisPlace =
  | { kind: 'server' }
  /** `nodes`: all that the cluster knows of, so that it is found again though the one of the URL is gone. */
  | { kind: 'cluster'; nodes: readonly RedisNode[]; options: NodeOptions }

/**
 * Asks the server of the URL what it is, and each server that may hold the queue whether it keeps what it is given.
 * @throws Fault `remote_failed` where Redis does not answer; `settings_bad` where it may evict keys, or the URL names
 * a database that a cluster does not have.
 */
function findRedis(settings: QueueSettings): Promise<RedisPlace> {
  const asked = new Redis(settings.url, askingOptions(settings))
  return asking(asked, settings, async (redis) => {
    const info = await redis.info()
    if (!/^cluster_enabled:1/m.test(info)) {
      checkEviction(info, settings)
      return { kind: 'server' }
    }
    if ((redis.options.db ?? 0) !== 0) throw new Fault('settings_bad', { faults: [databaseFault] })
    const options = nodeOptions(redis)
    const nodes = nodesOf(await redis.cluster('SLOTS'), redis)
    await askEach(nodes, options, settings)
    return { kind: 'cluster', nodes, options }
  })
}

/** The queue is in one slot, which any of them may hold in time, replicas too. One that is down now is no reason not to start. */
async function askEach(
  nodes: readonly RedisNode[],
  options: NodeOptions,
  settings: QueueSettings,
): Promise<void> {
  const asked = nodes.map((node) =>
    asking(new Redis({ ...options, ...node, ...askingOptions(settings) }), settings, async (redis) =>
      checkEviction(await redis.info('memory'), settings),
    ).catch((error: unknown) => {
      if (error instanceof Fault && error.code === 'settings_bad') throw error
      settings.report({ kind: 'connection_failed', error })
    }),
  )
  await Promise.all(asked)
}

async function asking<Answer>(
  redis: Redis,
  { url, limits }: QueueSettings,
  ask: (redis: Redis) => Promise<Answer>,
): Promise<Answer> {
  let cause: unknown
  redis.on('error', (error) => {
    cause = error
  })
  try {
    await within(limits.answerTimeoutMs, 'Redis', redis.connect())
    return await ask(redis)
  } catch (error) {
    if (isFault(error, 'settings_bad')) throw error
    const what = `connecting to QUEUE_URL (${new URL(url).host})`
    throw new Fault(
      'remote_failed',
      { what, problem: problemOf(cause ?? error, url) },
      { cause: cause ?? error },
    )
  } finally {
    redis.disconnect()
  }
}

/** A server that speaks no TLS waits for the rest of what it takes for a command. */
function problemOf(error: unknown, url: string): string {
  if (!isFault(error, 'remote_failed')) return messageOf(error)
  const { problem } = error.details
  return url.startsWith('rediss:') ? `${problem}; rediss:// asks for TLS: does it speak that there?` : problem
}

function askingOptions({ limits: { answerTimeoutMs } }: QueueSettings) {
  const once = { lazyConnect: true, retryStrategy: () => null }
  return { ...once, connectTimeout: answerTimeoutMs, commandTimeout: answerTimeoutMs }
}

function nodeOptions({ options: { username, password, tls } }: Redis) {
  return {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls !== undefined && { tls }),
  }
}

/** Masters and replicas of all ranges of slots. A node that tells no address of its own is the one asked. */
function nodesOf(slots: unknown, asked: Redis): RedisNode[] {
  const { host = '', port = 0 } = asked.options
  const ranges = Array.isArray(slots) ? (slots as unknown[]) : []
  const nodes = ranges.flatMap((range) => {
    const [, , ...ofRange] = range as [number, number, ...[string | null, number][]]
    return ofRange.map(([address, ofNode]) => ({ host: address || host, port: ofNode || port }))
  })
  return [...new Map(nodes.map((node) => [`${node.host} ${node.port}`, node])).values()]
}

function checkEviction(info: string, { report }: QueueSettings): void {
  if (evictionPolicy(info) === undefined) report({ kind: 'eviction_policy_unknown' })
  const problem = evictionProblem(info)
  if (problem !== null) throw new Fault('settings_bad', { faults: [`QUEUE_URL: ${problem}`] })
}

/** Why a server may drop wake-ups, by its answer to INFO; null where it does not, or does not tell. */
function evictionProblem(info: string): string | null {
  const policy = evictionPolicy(info) ?? 'noeviction'
  if (policy === 'noeviction') return null
  return `the Redis server has maxmemory-policy ${policy} and would drop wake-ups: set maxmemory-policy noeviction there`
}

/** From INFO, since servers run by others often refuse CONFIG. */
function evictionPolicy(info: string): string | undefined {
  return /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
}

const databaseFault = 'QUEUE_URL: a Redis Cluster has one database only: leave out the number at the end'

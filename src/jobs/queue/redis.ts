import { createRedisBackend, Queue } from 'bullmq'
import { Cluster, Redis } from 'ioredis'
import { Fault, isFault, messageOf } from '../../core/errors.ts'
import { within } from '../within.ts'
import {
  type Backend,
  CuttableWorker,
  countJobs,
  promoteFromFuture,
  type QueueSettings,
  queueOptions,
  runningWorker,
  type WakeData,
  wakeOf,
  wakeOptions,
  workerOptions,
} from './bullmq.ts'

/**
 * Producers fail fast while Redis is down; workers wait for it.
 * @throws Fault `remote_failed` if Redis does not answer; `settings_bad` if it may evict keys
 */
export async function openRedisQueue(settings: QueueSettings): Promise<Backend> {
  const { name, limits, report } = settings
  const target = await findRedis(settings)
  const producing = connectionTo(target, settings, producerUse(settings))
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
    // Locks use the clock of Redis.
    keepUp: () => promoteFromFuture(queue),
    startWorker(runs, concurrency) {
      const connection = connectionTo(target, settings, workerUse)
      const options = { ...queueOptions, ...workerOptions(limits), connection, concurrency }
      const worker = new CuttableWorker(name, (job) => runs.run(wakeOf(job)), options, createRedisBackend)
      const running = runningWorker({ worker, runs, cut: () => cutRedis(worker.getBackend()) }, settings)
      return { stop: () => running.stop().finally(() => cutCluster(connection)) }
    },
    close: () => cutRedis(queue.getBackend()).finally(() => cutCluster(producing)),
  }
}

/**
 * Reads INFO of every node that answers, since any may hold the queue in future. If none answers, the cluster is down.
 */
async function infosOf(cluster: Cluster): Promise<string[]> {
  const nodes = cluster.nodes('all')
  const answers = await Promise.allSettled(nodes.map((node) => node.info('memory')))
  const infos = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  return infos.length > 0 ? infos : [await cluster.info('memory')]
}

type Closable = { close: (force: boolean) => Promise<void> }

/** Avoids the worker's own `disconnect`: it waits for an event that a client without a socket never emits. */
async function cutRedis(backend: { connection: Closable; blockingConnection?: Closable }): Promise<void> {
  await backend.blockingConnection?.close(true)
  await backend.connection.close(true)
}

type QueueRedisConnection = ReturnType<typeof connectionTo>

/** We own cluster clients: BullMQ closes only the copies it makes of them. */
function cutCluster(connection: QueueRedisConnection): void {
  if (connection instanceof Cluster) connection.disconnect()
}

type ConnectionUse = {
  enableOfflineQueue: boolean
  maxRetriesPerRequest: number | null
  commandTimeout?: number
}

const workerUse: ConnectionUse = { enableOfflineQueue: true, maxRetriesPerRequest: null }

function producerUse({ limits }: QueueSettings): ConnectionUse {
  return { enableOfflineQueue: false, maxRetriesPerRequest: 1, commandTimeout: limits.answerTimeoutMs }
}

function connectionTo(target: RedisTarget, { url, limits }: QueueSettings, use: ConnectionUse) {
  const retryStrategy = (attempt: number) =>
    Math.min(50 * 2 ** Math.min(attempt, 10), limits.reconnectDelayMs)
  const connectTimeout = limits.answerTimeoutMs
  if (target.kind === 'server') return { url, connectTimeout, retryStrategy, ...use }
  const { enableOfflineQueue, ...each } = use
  const cluster = new Cluster([...target.nodes], {
    enableOfflineQueue,
    clusterRetryStrategy: retryStrategy,
    // Disables retries per node: commands for a node that is gone for good would wait for ever instead of going to its
    // successor.
    clusterNodeRetryStrategy: null,
    slotsRefreshTimeout: limits.answerTimeoutMs,
    // Certificates contain the names by which the nodes announce each other.
    dnsLookup: (address, callback) => callback(null, address),
    redisOptions: { ...target.options, connectTimeout, ...each },
  })
  // BullMQ forwards the errors. After it releases the client, they have no listener.
  cluster.on('error', () => undefined)
  return cluster
}

type RedisNode = { host: string; port: number }

/** Connection options shared by all nodes of a cluster; each node has its own address. */
type NodeOptions = ReturnType<typeof nodeOptions>

/** What `QUEUE_URL` refers to. */
type RedisTarget =
  | { kind: 'server' }
  /** `nodes`: all nodes known to the cluster, so it can be reached even if the node of the URL is gone. */
  | { kind: 'cluster'; nodes: readonly RedisNode[]; options: NodeOptions }

/**
 * Determines what the server of the URL is, and checks that no server that may hold the queue evicts keys.
 * @throws Fault `remote_failed` if Redis does not answer; `settings_bad` if it may evict keys, or if the URL names a
 * database that a cluster does not have
 */
function findRedis(settings: QueueSettings): Promise<RedisTarget> {
  const redis = new Redis(settings.url, onceOptions(settings))
  return withRedis(redis, settings, async () => {
    const info = await redis.info()
    if (!/^cluster_enabled:1/m.test(info)) {
      checkEviction(info, settings)
      return { kind: 'server' }
    }
    if ((redis.options.db ?? 0) !== 0) throw new Fault('settings_bad', { faults: [databaseFault] })
    const options = nodeOptions(redis)
    const nodes = nodesOf(await redis.cluster('SLOTS'), redis)
    await checkEach(nodes, options, settings)
    return { kind: 'cluster', nodes, options }
  })
}

/**
 * The queue is in one slot, which any node may hold in future, including replicas. A node that is down does not prevent
 * the start.
 */
async function checkEach(
  nodes: readonly RedisNode[],
  options: NodeOptions,
  settings: QueueSettings,
): Promise<void> {
  const checks = nodes.map((node) =>
    withRedis(new Redis({ ...options, ...node, ...onceOptions(settings) }), settings, async (redis) =>
      checkEviction(await redis.info('memory'), settings),
    ).catch((error: unknown) => {
      if (error instanceof Fault && error.code === 'settings_bad') throw error
      settings.report({ kind: 'connection_failed', error })
    }),
  )
  await Promise.all(checks)
}

async function withRedis<Answer>(
  redis: Redis,
  { url, limits }: QueueSettings,
  use: (redis: Redis) => Promise<Answer>,
): Promise<Answer> {
  let cause: unknown
  redis.on('error', (error) => {
    cause = error
  })
  try {
    await within(limits.answerTimeoutMs, 'Redis', redis.connect())
    return await use(redis)
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

/** A server without TLS takes the handshake for a command and waits for the rest, so the connection times out. */
function problemOf(error: unknown, url: string): string {
  if (!isFault(error, 'remote_failed')) return messageOf(error)
  const { problem } = error.details
  return url.startsWith('rediss:')
    ? `${problem}; rediss:// requires TLS: check that the server accepts TLS on this port`
    : problem
}

function onceOptions({ limits: { answerTimeoutMs } }: QueueSettings) {
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

/** Masters and replicas of all slot ranges. A node without an address is the one queried. */
function nodesOf(slots: unknown, queried: Redis): RedisNode[] {
  const { host = '', port = 0 } = queried.options
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

/** Why a server may drop wake-ups, from its INFO; null if it does not, or does not say. */
function evictionProblem(info: string): string | null {
  const policy = evictionPolicy(info) ?? 'noeviction'
  if (policy === 'noeviction') return null
  return `the Redis server has maxmemory-policy ${policy} and could drop wake-ups: set its maxmemory-policy to noeviction`
}

/** Uses INFO, since managed servers often refuse CONFIG. */
function evictionPolicy(info: string): string | undefined {
  return /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
}

const databaseFault =
  'QUEUE_URL: a Redis Cluster has a single database: remove the number at the end of the URL'

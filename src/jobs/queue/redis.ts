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

/** Any node may hold the queue in future. If none answers, the cluster is down. */
async function infosOf(cluster: Cluster): Promise<string[]> {
  const nodes = cluster.nodes('all')
  const answers = await Promise.allSettled(nodes.map((node) => node.info('memory')))
  const infos = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
  return infos.length > 0 ? infos : [await cluster.info('memory')]
}

type Closable = { close: (force: boolean) => Promise<void> }

/** The worker's own `disconnect` waits for an event that a client without a socket never emits. */
async function cutRedis(backend: { connection: Closable; blockingConnection?: Closable }): Promise<void> {
  await backend.blockingConnection?.close(true)
  await backend.connection.close(true)
}

type QueueRedisConnection = ReturnType<typeof connectionTo>

/** BullMQ closes only its copies of cluster clients. */
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
    // With retries, commands for a lost node would wait for ever instead of going to its successor.
    clusterNodeRetryStrategy: null,
    slotsRefreshTimeout: limits.answerTimeoutMs,
    dnsLookup: (address, callback) => callback(null, address),
    redisOptions: { ...target.options, connectTimeout, ...each },
  })
  // BullMQ forwards the errors until it releases the client.
  cluster.on('error', () => undefined)
  return cluster
}

type RedisNode = { host: string; port: number }

type NodeOptions = ReturnType<typeof nodeOptions>

type RedisTarget =
  | { kind: 'server' }
  /** `nodes`: all that the cluster knows, in case the node of the URL is gone. */
  | { kind: 'cluster'; nodes: readonly RedisNode[]; options: NodeOptions }

/**
 * No server that may hold the queue may evict keys.
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

/** Any node, replicas included, may hold the queue in future. One that is down does not prevent the start. */
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

/** Without TLS, a server waits for the rest of the handshake, so the connection times out. */
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

/** A node without an address is the one queried. */
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

/** Null if it keeps them, or does not say. */
function evictionProblem(info: string): string | null {
  const policy = evictionPolicy(info) ?? 'noeviction'
  if (policy === 'noeviction') return null
  return `the Redis server has maxmemory-policy ${policy} and could drop wake-ups: set its maxmemory-policy to noeviction`
}

/** Managed servers often refuse CONFIG. */
function evictionPolicy(info: string): string | undefined {
  return /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
}

const databaseFault =
  'QUEUE_URL: a Redis Cluster has a single database: remove the number at the end of the URL'

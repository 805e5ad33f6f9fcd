import { Redis } from 'ioredis'
import { Fault, isFault, messageOf } from '../../core/errors.ts'
import { within } from '../within.ts'
import type { QueueSettings } from './queue-port.ts'

export type RedisNode = { host: string; port: number }

/** What all nodes of a cluster are spoken to with; their addresses are their own. */
export type NodeOptions = ReturnType<typeof nodeOptions>

/** What stands behind `QUEUE_URL`. */
export type RedisPlace =
  | { kind: 'server' }
  /** `nodes`: all that the cluster knows of, so that it is found again though the one of the URL is gone. */
  | { kind: 'cluster'; nodes: readonly RedisNode[]; options: NodeOptions }

/**
 * Asks the server of the URL what it is, and each server that may hold the queue whether it keeps what it is given.
 * @throws Fault `remote_failed` where Redis does not answer; `settings_bad` where it may evict keys, or the URL names
 * a database that a cluster does not have.
 */
export function findRedis(settings: QueueSettings): Promise<RedisPlace> {
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
export function evictionProblem(info: string): string | null {
  const policy = evictionPolicy(info) ?? 'noeviction'
  if (policy === 'noeviction') return null
  return `the Redis server has maxmemory-policy ${policy} and would drop wake-ups: set maxmemory-policy noeviction there`
}

/** From INFO, since servers run by others often refuse CONFIG. */
function evictionPolicy(info: string): string | undefined {
  return /^maxmemory_policy:(\S+)/m.exec(info)?.[1]
}

const databaseFault = 'QUEUE_URL: a Redis Cluster has one database only: leave out the number at the end'

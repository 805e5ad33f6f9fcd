import { DatabaseError } from 'pg'
import type { QueueEvent, QueueLimits } from '../../src/jobs/queue/bullmq.ts'
import type { Queue } from '../../src/jobs/queue/queue.ts'
import { createQueue, queueLimits } from '../../src/jobs/queue/queue.ts'
import { emptyDatabase } from './postgres.ts'
import { redisInstalled, startRedis } from './redis.ts'
import { startRedisCluster } from './redis-cluster.ts'
import { until } from './until.ts'

export type QueueServer = { url: string; end: () => Promise<void> }

export const queueServers: readonly {
  server: string
  missing: boolean
  begin: () => Promise<QueueServer>
}[] = [
  {
    server: 'Postgres',
    missing: false,
    async begin() {
      const { url, drop } = await emptyDatabase()
      return { url, end: drop }
    },
  },
  {
    server: 'Redis',
    missing: !redisInstalled(),
    async begin() {
      const { url, stop } = await startRedis()
      return { url, end: stop }
    },
  },
  {
    server: 'a Redis Cluster',
    missing: !redisInstalled(),
    async begin() {
      const { url, stop } = await startRedisCluster()
      return { url, end: stop }
    },
  },
]

export type TestQueue = Queue & { events: QueueEvent[] }

/** With limits that make a test short. */
export async function openTestQueue(
  url: string,
  limits: Partial<QueueLimits> = {},
  recurring: readonly string[] = [],
): Promise<TestQueue> {
  const events: QueueEvent[] = []
  const queue = await createQueue({
    url,
    name: 'test',
    limits: { ...queueLimits, retryDelayMs: 20, reconnectDelayMs: 100, ...limits },
    recurring: new Set(recurring),
    report: (event) => events.push(event),
  })
  return { ...queue, events }
}

const deadlock = '40P01'

/** A running job may be in the way (a deadlock): then the drop is tried again. */
export async function dropQueueSchema(query: (text: string) => Promise<unknown>): Promise<void> {
  await until('the schema of the queue is dropped', async () => {
    try {
      await query('drop schema bullmq cascade')
      return true
    } catch (error) {
      if (error instanceof DatabaseError && error.code === deadlock) return null
      throw error
    }
  })
}

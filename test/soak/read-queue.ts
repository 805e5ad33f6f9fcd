import { Redis } from 'ioredis'
import type { Client } from 'pg'
import type { ChaosWorld } from '../chaos/world.ts'

/** What the queue holds: keys and memory of Redis, or rows and tables of Postgres; and what of that are jobs, in any state. */
export type QueueSample = { keys: number; bytes: number; jobs: number; jobBytes: number }

export async function readQueue(world: ChaosWorld, client: Client): Promise<QueueSample> {
  if (world.redis !== null) return readRedis(world.redis.url)
  const { rows } = await client.query<QueueSample>(
    `select sum(n_live_tup)::int as keys, sum(pg_total_relation_size(relid))::float8 as bytes,
      (select count(*)::int from bullmq.job) as jobs, pg_total_relation_size('bullmq.job')::float8 as "jobBytes"
    from pg_stat_user_tables where schemaname = 'bullmq'`,
  )
  return rows[0] ?? { keys: 0, bytes: 0, jobs: 0, jobBytes: 0 }
}

async function readRedis(url: string): Promise<QueueSample> {
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null })
  // Whoever asks hears of it.
  redis.on('error', () => undefined)
  try {
    await redis.connect()
    const bytes = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1] ?? 0)
    const sizes = await Promise.all((await jobKeysOf(redis)).map((key) => redis.memory('USAGE', key)))
    return {
      keys: await redis.dbsize(),
      bytes,
      jobs: sizes.length,
      jobBytes: sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0),
    }
  } finally {
    redis.disconnect()
  }
}

/** Each job is a hash; so is what the queue keeps about itself. */
async function jobKeysOf(redis: Redis): Promise<string[]> {
  const keys: string[] = []
  for await (const page of redis.scanStream({ type: 'hash', count: 1000 })) keys.push(...(page as string[]))
  return [...new Set(keys)].filter((key) => !key.endsWith(':meta'))
}

import { Redis } from 'ioredis'
import type { Client } from 'pg'
import type { ChaosWorld } from '../chaos/world.ts'

/** How much the queue holds: keys and memory of Redis, or rows and tables of Postgres. */
export async function readQueue(world: ChaosWorld, client: Client): Promise<{ keys: number; bytes: number }> {
  if (world.redis !== null) return readRedis(world.redis.url)
  const { rows } = await client.query<{ keys: number; bytes: number }>(
    `select sum(n_live_tup)::int as keys, sum(pg_total_relation_size(relid))::float8 as bytes
    from pg_stat_user_tables where schemaname = 'bullmq'`,
  )
  return { keys: rows[0]?.keys ?? 0, bytes: rows[0]?.bytes ?? 0 }
}

async function readRedis(url: string): Promise<{ keys: number; bytes: number }> {
  const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null })
  // Whoever asks hears of it.
  redis.on('error', () => undefined)
  try {
    await redis.connect()
    const bytes = Number(/^used_memory:(\d+)/m.exec(await redis.info('memory'))?.[1] ?? 0)
    return { keys: await redis.dbsize(), bytes }
  } finally {
    redis.disconnect()
  }
}

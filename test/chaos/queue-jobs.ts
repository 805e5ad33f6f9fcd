import { Redis } from 'ioredis'
import type { ChaosWorld } from './world.ts'

/** A job as the queue's server holds it; `starts` counts the workers that took it. */
export type QueueJob = { id: string; name: string; starts: number }

const prefix = '{depositd}:depositd:'

/** The jobs that some worker has taken and nobody has ended. */
export async function activeJobs(world: ChaosWorld): Promise<QueueJob[]> {
  if (world.redis !== null) return withRedis(world.redis.url, activeOnRedis)
  const client = await world.connect()
  try {
    const { rows } = await client.query<QueueJob>(
      `select id, name, attempts_started as starts from bullmq.job where queue = 'depositd' and state = 'active'`,
    )
    return rows
  } finally {
    await client.end()
  }
}

async function activeOnRedis(redis: Redis): Promise<QueueJob[]> {
  const ids = await redis.lrange(`${prefix}active`, 0, -1)
  return Promise.all(
    ids.map(async (id) => {
      const [name, starts] = await redis.hmget(prefix + id, 'name', 'ats')
      return { id, name: name ?? '', starts: Number(starts ?? 0) }
    }),
  )
}

/** Keys of all jobs, whatever their state. */
export async function jobKeys(redis: Redis): Promise<string[]> {
  const keys = await redis.keys(`${prefix}*`)
  return keys.filter((key) => /^\d+$/.test(key.slice(prefix.length)))
}

/** Past the proxy, on a connection that ends with the work. */
export async function withRedis<Result>(
  url: string,
  work: (redis: Redis) => Promise<Result>,
): Promise<Result> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1, retryStrategy: () => null })
  redis.on('error', () => undefined)
  try {
    return await work(redis)
  } finally {
    redis.disconnect()
  }
}

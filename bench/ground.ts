import { needProgram } from '../test/support/programs-needed.ts'
import { startRedis } from '../test/support/redis.ts'
import { type Kept, type PostgresGround, startPostgresGround } from './postgres-ground.ts'

/** Both servers of the measurement's own. */
export type Ground = PostgresGround & { redisUrl: string }

/**
 * @param kept as `startPostgresGround` takes it
 * @throws Error that names the package where there is no Redis
 */
export async function startGround(stack: AsyncDisposableStack, kept: Kept | null = null): Promise<Ground> {
  needProgram('redis-server')
  const postgres = await startPostgresGround(stack, kept)
  const everySecond = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--dir', postgres.folder]
  const redis = await startRedis(...everySecond, '--maxmemory-policy', 'noeviction')
  stack.defer(() => redis.stop())
  return {
    ...postgres,
    redisUrl: redis.url,
    settings: async () => ({
      ...(await postgres.settings()),
      redis: 'appendonly yes, appendfsync everysec, maxmemory-policy noeviction',
    }),
  }
}

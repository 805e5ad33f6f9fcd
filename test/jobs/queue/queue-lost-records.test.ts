import { Redis } from 'ioredis'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openTestQueue } from '../../support/queue.ts'
import { redisInstalled, startRedis } from '../../support/redis.ts'

/** A job waits, and Redis has lost its record, but not its place in the list. */
async function queueOfLostJob() {
  const server = await startRedis()
  onTestFinished(() => server.stop())
  const queue = await openTestQueue(server.url)
  onTestFinished(() => queue.stop())
  await queue.wake('apply')
  const redis = new Redis(server.url)
  expect(await redis.del('{depositd}:test:1')).toBe(1)
  redis.disconnect()
  let runs = 0
  const work = () => queue.work({ apply: async () => void runs++ }, { concurrency: 1 })
  return { queue, work, runs: () => runs }
}

describe.skipIf(!redisInstalled())('a job whose record Redis has lost', () => {
  test('makes room for the next wake-up while it waits', async () => {
    const { queue, work, runs } = await queueOfLostJob()
    await queue.wake('apply')
    work()
    await expect.poll(runs).toBe(1)
  })

  test('makes room for the next wake-up once it was run', async () => {
    const { queue, work, runs } = await queueOfLostJob()
    work()
    await expect.poll(() => queue.events.map((event) => event.kind)).toContain('job_failed')
    await queue.wake('apply')
    await expect.poll(runs).toBe(1)
    expect(await queue.counts()).toMatchObject({ waiting: 0, failed: 0, completed: 0 })
  })
})

import { Queue } from 'bullmq'
import { expect, onTestFinished, test } from 'vitest'
import { queueOptions } from '../../../src/jobs/queue/bullmq.ts'
import { openTestQueue } from '../../support/queue.ts'
import { redisInstalled, startRedis } from '../../support/redis.ts'

/** By whoever has the login of the queue. */
const forged: [string, unknown][] = [
  ['steal', { key: '' }],
  ['constructor', { key: 'x' }],
  ['__proto__', { key: 'x' }],
  ['apply', null],
  ['apply', { key: { toString: 1 }, handler: 'steal' }],
  ['apply', 'not a wake-up'],
]

test.skipIf(!redisInstalled())(
  'a forged job runs what there is, sooner, or fails; the others go on',
  async () => {
    const redis = await startRedis()
    onTestFinished(() => redis.stop())
    const queue = await openTestQueue(redis.url)
    onTestFinished(() => queue.stop())
    const forger = new Queue('test', { ...queueOptions, connection: { url: redis.url } })
    onTestFinished(() => forger.close())
    for (const [name, data] of forged) await forger.add(name, data)
    const keys: unknown[] = []
    const apply = (key: unknown) => Promise.resolve(void keys.push(key))
    queue.work({ apply }, { concurrency: 1 })
    await expect.poll(() => keys).toHaveLength(3)
    await queue.wake('apply', 'true')
    await expect.poll(() => keys).toEqual(['', '', '', 'true'])
    const failures = () =>
      queue.events.map((event) => (event.kind === 'job_failed' ? String(event.error) : event.kind))
    const refused = ['steal', 'constructor', '__proto__'].map((name) => `Error: no handler for ${name}`)
    await expect.poll(() => new Set(failures())).toEqual(new Set(refused))
  },
)

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { withRole } from '../daemons.ts'
import type { Fault } from '../fault.ts'
import { holdAccepted, holdAnswered, keepSending, untilTaken } from '../own-webhooks.ts'
import { jobKeys, withRedis } from '../queue-jobs.ts'
import type { Random } from '../random.ts'
import { untilReady, untilUnready } from '../readiness.ts'
import { redisFiles } from '../redis-files.ts'
import type { ChaosWorld, ServerProcess } from '../world.ts'

type Loss = {
  title: string
  /** Kills it, and starts it again in some state. */
  act: (redis: ServerProcess, world: ChaosWorld, random: Random) => Promise<string>
}

/** Whatever becomes of Redis, webhooks are taken in: nothing but time is lost with it. */
function loss({ title, act }: Loss): Fault {
  return {
    name: 'F6',
    title,
    backend: 'redis',
    ground: 'shared',
    async strike(world, random) {
      const { redis } = world
      if (redis === null) throw new Error('the queue is not on Redis')
      await using sender = keepSending(world, `f6_${random.between(0, 999_999_999)}`, {
        beside: 1,
        pauseMs: 200,
      })
      await world.pay(random.between(1, 3))
      const saw = await act(redis, world, random)
      await untilTaken(sender)
      await world.pay(random.between(1, 2))
      await untilReady(withRole(world, 'worker'))
      const answered = await sender.stop()
      holdAnswered(answered)
      const refused = answered.filter(({ status }) => status !== 202)
      if (refused.length > 0) throw new Error(`${refused.length} webhooks were refused for the queue's sake`)
      await holdAccepted(world, answered)
      world.say(`${saw}; ${answered.length} webhooks taken in`)
    },
  }
}

async function killAndStart(redis: ServerProcess): Promise<string> {
  await redis.kill()
  await redis.start()
  return 'killed and started'
}

/** The length is the fault itself here: past it lie the time-outs of who waits. */
const downFor =
  (choices: readonly number[]) =>
  async (redis: ServerProcess, world: ChaosWorld, random: Random): Promise<string> => {
    const seconds = random.pick(choices)
    await redis.kill()
    const paying = world.pay(random.between(1, 3))
    await untilUnready(withRole(world, 'worker'), 'queue')
    await sleep(seconds * 1000)
    await paying
    await redis.start()
    return `down for ${seconds} s`
  }

async function comeBackEmpty(redis: ServerProcess, world: ChaosWorld): Promise<string> {
  const files = redisFiles(redis.data)
  await redis.kill()
  await world.pay(1)
  await files.replace(null)
  await redis.start()
  return 'came back empty'
}

/** Jobs that were done come again, and jobs that wait now are forgotten. */
async function comeBackOld(redis: ServerProcess, world: ChaosWorld, random: Random): Promise<string> {
  const files = redisFiles(redis.data)
  const copy = join(world.folder, `redis-copy-${random.between(0, 999_999_999)}`)
  await files.copyTo(copy)
  await world.pay(random.between(1, 3))
  await redis.kill()
  await files.replace(copy)
  await redis.start()
  const jobs = await withRedis(redis.url, jobKeys)
  return `came back as it was some payments ago, with ${jobs.length} jobs`
}

const losses: readonly Loss[] = [
  { title: 'Redis is killed and started again', act: killAndStart },
  // A minute is long for one fault of a run: one seed in eight has it.
  { title: 'Redis is down', act: downFor([3, 3, 3, 3, 3, 3, 3, 60]) },
  { title: 'Redis comes back empty', act: comeBackEmpty },
  { title: 'Redis comes back with an old snapshot', act: comeBackOld },
]

export const redisLost: readonly Fault[] = losses.map(loss)

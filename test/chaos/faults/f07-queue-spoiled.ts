import { until } from '../../support/until.ts'
import { withRole } from '../daemons.ts'
import type { Fault } from '../fault.ts'
import { jobKeys, withRedis } from '../queue-jobs.ts'
import type { Random } from '../random.ts'
import { readinessOf } from '../readiness.ts'
import type { ChaosWorld, ServerProcess } from '../world.ts'

type Spoiling = {
  title: string
  act: (redis: ServerProcess, world: ChaosWorld, random: Random) => Promise<string>
}

function spoiling({ title, act }: Spoiling): Fault {
  return {
    name: 'F7',
    title,
    backend: 'redis',
    ground: 'shared',
    async strike(world, random) {
      if (world.redis === null) throw new Error('the queue is not on Redis')
      const paying = world.pay(random.between(2, 4))
      const saw = await act(world.redis, world, random)
      await paying
      await world.pay(1)
      world.say(saw)
    },
  }
}

/** Time and again: while jobs wait, while they run, and while nothing does. */
async function flush({ url }: ServerProcess, _world: ChaosWorld, random: Random): Promise<string> {
  const rounds = random.between(3, 8)
  const lost = await withRedis(url, async (redis) => {
    let jobs = 0
    for (let round = 0; round < rounds; round++) {
      jobs += await until('jobs are there to be lost', async () => (await jobKeys(redis)).length || null)
      await redis.flushall()
    }
    return jobs
  })
  return `${lost} jobs lost in ${rounds} times FLUSHALL`
}

/** The lists name a job that is not there any more. */
async function deleteJobs({ url }: ServerProcess, _world: ChaosWorld, random: Random): Promise<string> {
  const wanted = random.between(3, 10)
  await withRedis(url, async (redis) => {
    for (let deleted = 0; deleted < wanted; ) {
      const keys = await jobKeys(redis)
      if (keys.length > 0) deleted += await redis.del(random.pick(keys))
    }
  })
  return `the hashes of ${wanted} jobs deleted`
}

/** A server that may drop wake-ups is told of by who runs, and refused by who starts. */
async function evict({ url }: ServerProcess, world: ChaosWorld, random: Random): Promise<string> {
  const policy = random.pick(['allkeys-lru', 'allkeys-random', 'volatile-ttl'])
  const set = (value: string) => withRedis(url, (redis) => redis.config('SET', 'maxmemory-policy', value))
  await set(policy)
  try {
    for (const daemon of withRole(world, 'worker')) await untilReported(daemon, policy)
    await holdRefused(world, policy)
  } finally {
    await set('noeviction')
  }
  return `${policy} is told of, and refused at a start`
}

async function untilReported(daemon: Parameters<typeof readinessOf>[0] & { name: string }, policy: string) {
  await until(`${daemon.name} tells of ${policy}`, async () => {
    const ready = await readinessOf(daemon)
    return ready?.warned.some((one) => one.startsWith('queue:') && one.includes(policy)) || null
  })
}

async function holdRefused(world: ChaosWorld, policy: string): Promise<void> {
  const refused = await world.start('worker')
  const status = await refused.ended
  if (status === 0 || status === null || !refused.output().includes(`maxmemory-policy ${policy}`))
    throw new Error(`a start on a server that evicts by ${policy} ended with ${status}`)
}

/** The same on Postgres: nothing of the queue is left but its schema. */
const emptied: Fault = {
  name: 'F7',
  title: "the queue's tables are emptied",
  backend: 'postgres',
  ground: 'shared',
  async strike(world, random) {
    const rounds = random.between(3, 8)
    const paying = world.pay(random.between(2, 4))
    const client = await world.connect()
    let lost = 0
    try {
      for (let round = 0; round < rounds; round++) {
        lost += await until('jobs are there to be lost', async () => {
          const { rowCount } = await client.query('delete from bullmq.job')
          return rowCount || null
        })
        await client.query('delete from bullmq.dedup; delete from bullmq.dedup_next')
      }
    } finally {
      await client.end()
    }
    await paying
    await world.pay(1)
    world.say(`${lost} jobs lost in ${rounds} rounds`)
  },
}

const spoilings: readonly Spoiling[] = [
  { title: 'Redis is emptied by FLUSHALL', act: flush },
  { title: 'the hashes of jobs are deleted', act: deleteJobs },
  { title: 'Redis is told to evict', act: evict },
]

export const queueSpoiled: readonly Fault[] = [...spoilings.map(spoiling), emptied]

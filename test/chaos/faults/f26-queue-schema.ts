import type { Client } from 'pg'
import { dropQueueSchema } from '../../support/queue.ts'
import { until } from '../../support/until.ts'
import { withRole } from '../daemons.ts'
import type { Fault } from '../fault.ts'
import type { Random } from '../random.ts'
import { readinessOf, untilReady } from '../readiness.ts'
import type { ChaosWorld } from '../world.ts'

type Damage = {
  title: string
  act: (client: Client, world: ChaosWorld, random: Random) => Promise<string>
}

/** Nobody has to help: work goes on by itself, and until then a worker says which schema it lacks. */
function damage({ title, act }: Damage): Fault {
  return {
    name: 'F26',
    title,
    backend: 'postgres',
    ground: 'shared',
    async strike(world, random) {
      const paying = world.pay(random.between(2, 4))
      const client = await world.connect()
      try {
        const saw = await act(client, world, random)
        await paying
        await world.pay(1)
        await untilReady(withRole(world, 'worker'))
        world.say(saw)
      } finally {
        await client.end()
      }
    },
  }
}

/** While jobs wait and run, and again once it is back. */
async function drop(client: Client, world: ChaosWorld, random: Random): Promise<string> {
  const rounds = random.between(1, 3)
  let lost = 0
  for (let round = 0; round < rounds; round++) {
    lost += await until('jobs are there to be lost', async () => (await countJobs(client)) || null)
    await dropQueueSchema((text) => client.query(text))
    await untilNamed(world, 'the schema bullmq is missing')
    await until('the schema is made again', async () => (await countJobs(client)) ?? null)
  }
  return `the schema was dropped ${rounds} times, and ${lost} jobs with it`
}

/** As a newer version of the program would leave it; a worker that starts then says so and ends. */
async function makeNewer(client: Client, world: ChaosWorld): Promise<string> {
  await client.query(
    `insert into bullmq.migration (version, name, min_client_version) values (9999, 'of a newer version', 99)`,
  )
  try {
    await untilNamed(world, 'the schema bullmq was created by a newer version')
    const refused = await world.start('worker')
    const status = await refused.ended
    if (
      status === 0 ||
      status === null ||
      !refused.output().includes('the schema bullmq was created by a newer version')
    )
      throw new Error(`a start on a queue of a newer version ended with ${status}`)
  } finally {
    await client.query('delete from bullmq.migration where version = 9999')
  }
  return 'a newer schema was named, and refused at a start'
}

async function untilNamed(world: ChaosWorld, problem: string): Promise<void> {
  await until(`a worker says that ${problem}`, async () => {
    const answers = await Promise.all(withRole(world, 'worker').map(readinessOf))
    const named = answers.some((ready) => ready?.unready.some((one) => one.includes(problem)))
    return named || null
  })
}

/** Null while there is no such table. */
async function countJobs(client: Client): Promise<number | null> {
  const { rows } = await client.query<{ made: boolean }>(
    `select to_regclass('bullmq.job') is not null as made`,
  )
  if (rows[0]?.made !== true) return null
  const { rows: counted } = await client.query<{ count: number }>(
    'select count(*)::int as count from bullmq.job',
  )
  return counted[0]?.count ?? 0
}

export const queueSchema: readonly Fault[] = [
  { title: "the queue's schema is dropped", act: drop },
  { title: "the queue's schema is of a newer version", act: makeNewer },
].map(damage)

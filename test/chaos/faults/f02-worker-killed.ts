import type { Client } from 'pg'
import type { FailpointName } from '../../../src/failpoint.ts'
import { until } from '../../support/until.ts'
import { inPlaceOf, untilDead } from '../daemons.ts'
import type { Fault } from '../fault.ts'
import { payUntil } from '../pay-until.ts'
import { countIdleTransactions, countPending } from '../postgres-acts.ts'
import { activeJobs } from '../queue-jobs.ts'
import type { ChaosWorld } from '../world.ts'

type Point = {
  failpoint: FailpointName
  title: string
  /** @throws where the world is not as that death leaves it; nobody works on it now. */
  hold: (world: ChaosWorld, client: Client) => Promise<void>
}

const points: readonly Point[] = [
  { failpoint: 'apply.read', title: 'after reading', hold: holdPending },
  { failpoint: 'apply.in_transaction', title: 'inside the posting transaction', hold: holdPending },
  { failpoint: 'apply.committed', title: "after the commit, before the job's end", hold: holdActive },
  { failpoint: 'scan.read', title: 'after reading blocks', hold: () => Promise.resolve() },
  { failpoint: 'scan.in_transaction', title: 'inside the transaction of a scan', hold: holdNone },
  { failpoint: 'poll.read', title: 'after reading records', hold: () => Promise.resolve() },
  { failpoint: 'poll.in_transaction', title: 'inside the transaction of a poll', hold: holdNone },
]

function killedAt({ failpoint, title, hold }: Point): Fault {
  return {
    name: 'F2',
    title: `a worker is killed ${title}`,
    ground: 'shared',
    async strike(world, random) {
      const dieAt = { failpoint, nth: random.between(1, 3) }
      const worker = await inPlaceOf(world, 'worker', { roles: 'worker,scheduler', dieAt })
      const client = await world.connect()
      try {
        // What is due may have nothing to read; what is paid has.
        await payUntil(world, () => !worker.isRunning())
        await untilDead(worker, failpoint)
        await hold(world, client)
      } finally {
        await client.end()
      }
      world.say(`died at ${failpoint}, time ${dieAt.nth}`)
    },
  }
}

/** Nothing of the transaction is left. */
async function holdNone(_world: ChaosWorld, client: Client): Promise<void> {
  await until('the dead worker has no transaction any more', async () =>
    (await countIdleTransactions(client)) === 0 ? true : null,
  )
}

/** What the transaction took is still there for another: nothing of it was committed. */
async function holdPending(world: ChaosWorld, client: Client): Promise<void> {
  await holdNone(world, client)
  await until('rows wait that nobody applies', async () => ((await countPending(client)) > 0 ? true : null))
}

/** The queue still believes that the job runs. */
async function holdActive(world: ChaosWorld): Promise<void> {
  const jobs = await activeJobs(world)
  if (!jobs.some(({ name }) => name === 'apply' || name === 'sweep'))
    throw new Error('no job of the dead worker is active')
}

export const workerKilled: readonly Fault[] = points.map(killedAt)

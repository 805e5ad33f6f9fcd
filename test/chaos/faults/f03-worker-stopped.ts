import type { FailpointName } from '../../../src/failpoint.ts'
import { until } from '../../support/until.ts'
import { isStopped, withRole } from '../daemons.ts'
import type { Fault } from '../fault.ts'
import { payUntil } from '../pay-until.ts'
import { countIdleTransactions, countPending } from '../postgres-acts.ts'
import { activeJobs, type QueueJob } from '../queue-jobs.ts'
import type { ChaosWorld, DaemonProcess } from '../world.ts'

/** The queue gives a silent worker's job to another after 15 s, and looks for such jobs every 5 s. */
const takenOverWithinMs = 90_000

type Stop = { failpoint: FailpointName; title: string }

const stops: readonly Stop[] = [
  { failpoint: 'apply.in_transaction', title: 'inside its transaction' },
  { failpoint: 'apply.committed', title: 'behind its commit' },
]

function stoppedAt({ failpoint, title }: Stop): Fault {
  return {
    name: 'F3',
    title: `two workers on one batch: one stands still ${title}, past the lock of its job`,
    ground: 'shared',
    async strike(world, random) {
      const worker = await stopOne(world, { failpoint, nth: random.between(1, 2) })
      const held = (await activeJobs(world)).filter(({ name }) => name === 'apply' || name === 'sweep')
      await untilTakenOver(world, held)
      // Postgres ends a transaction in which nothing happens for 30 s; then the rows are the other one's.
      const isPastTransaction = failpoint === 'apply.in_transaction' && random.between(1, 3) === 1
      if (isPastTransaction) await untilFree(world)
      await world.pay(random.between(1, 2))
      worker.signal('SIGCONT')
      await world.pay(1)
      await until(`${worker.name} goes on`, () => (isStopped(worker) ? null : true))
      world.say(
        `${held.map(({ name }) => name).join(', ')} ran twice${isPastTransaction ? ', the rows as well' : ''}`,
      )
    },
  }
}

/** One of the workers is replaced by one that will stand still; the other one stays. */
async function stopOne(
  world: ChaosWorld,
  stopAt: { failpoint: FailpointName; nth: number },
): Promise<DaemonProcess> {
  const [replaced] = withRole(world, 'worker')
  await replaced?.kill()
  const worker = await world.start('worker,scheduler', { stopAt })
  await payUntil(world, () => isStopped(worker))
  await until(`${worker.name} stands still at ${stopAt.failpoint}`, () => (isStopped(worker) ? true : null))
  return worker
}

/** Until each of these jobs runs elsewhere, or has been run. */
async function untilTakenOver(world: ChaosWorld, held: readonly QueueJob[]): Promise<void> {
  const startsOf = new Map(held.map(({ id, starts }) => [id, starts]))
  await until(
    'another worker took the job',
    async () => {
      const active = await activeJobs(world)
      const stuck = active.filter(({ id, starts }) => starts === startsOf.get(id))
      return stuck.length === 0 ? true : null
    },
    takenOverWithinMs,
  )
}

async function untilFree(world: ChaosWorld): Promise<void> {
  const client = await world.connect()
  try {
    await until(
      'the transaction of who stands still was ended, and its rows applied',
      async () => ((await countIdleTransactions(client)) + (await countPending(client)) === 0 ? true : null),
      takenOverWithinMs,
    )
  } finally {
    await client.end()
  }
}

export const workerStopped: readonly Fault[] = stops.map(stoppedAt)

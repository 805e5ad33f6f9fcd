import { until } from '../../support/until.ts'
import { withRole } from '../daemons.ts'
import type { Fault } from '../fault.ts'
import { sendOwn, storedOf } from '../own-webhooks.ts'
import type { Random } from '../random.ts'
import { attemptsSince, serviceNow } from '../service-attempts.ts'
import type { ChaosWorld } from '../world.ts'

const [second, minute] = [1000, 60_000]

/** What a webhook's signature is good for, before and after it was made. */
const toleranceMs = 5 * minute

/** The intake's clock is off: what the service sends is refused, and comes again once the clock is right. */
const intakeOff: Fault = {
  name: 'F8',
  title: 'the clock of the intake is ten minutes off',
  ground: 'shared',
  async strike(world, random) {
    const offsetMs = random.pick([10 * minute, -10 * minute])
    const [http] = withRole(world, 'http')
    if (http === undefined) throw new Error('nobody takes webhooks')
    const since = await serviceNow(world)
    await http.setClock(offsetMs)
    const paying = world.pay(random.between(1, 3))
    const refused = await until('the service is answered 401', async () => {
      const attempts = await attemptsSince(world, since)
      return attempts.find(({ status }) => status === 401)?.id ?? null
    })
    await paying
    await holdEdges(world, offsetMs, `f8_${random.between(0, 999_999_999)}`)
    await http.setClock(0)
    await until('what was refused came again and is stored', async () =>
      (await storedOf(world, [refused])).has(refused) ? true : null,
    )
    world.say(`clock ${offsetMs / minute} min off; ${refused} was refused and came again`)
  },
}

/** By a clock that is off, a signature is as old as that clock says: just inside is taken, just outside is not. */
async function holdEdges(world: ChaosWorld, offsetMs: number, prefix: string): Promise<void> {
  const marginMs = 30 * second
  const edges = [
    { at: offsetMs, status: 202 },
    { at: offsetMs - toleranceMs + marginMs, status: 202 },
    { at: offsetMs + toleranceMs - marginMs, status: 202 },
    { at: offsetMs - toleranceMs - marginMs, status: 401 },
    { at: offsetMs + toleranceMs + marginMs, status: 401 },
    { at: 0, status: 401 },
  ]
  for (const [place, { at, status }] of edges.entries()) {
    const answered = await sendOwn(world, `${prefix}_${place}`, new Date(Date.now() + at))
    if (answered.status !== status)
      throw new Error(
        `signed ${at / second} s from now, clock ${offsetMs / second} s off: ${answered.status}`,
      )
  }
}

type Step = { title: string; offsets: (random: Random) => number[] }

/** A worker judges deadlines by its clock: what it told of too early is put right when the clock is. */
function workersOff({ title, offsets }: Step): Fault {
  return {
    name: 'F8',
    title,
    ground: 'shared',
    async strike(world, random) {
      const workers = withRole(world, 'worker')
      const all = offsets(random)
      for (const offsetMs of all) {
        for (const worker of workers) await worker.setClock(offsetMs)
        await world.pay(1)
        await untilReadAt(world, offsetMs)
      }
      await world.pay(random.between(1, 2))
      world.say(`clocks stepped by ${all.map((offsetMs) => `${offsetMs / second} s`).join(', ')}`)
    },
  }
}

/** Until a row of the inbox is dated by such a clock: the times at which the API was read are the worker's own. */
async function untilReadAt(world: ChaosWorld, offsetMs: number): Promise<void> {
  const client = await world.connect()
  const toleratedSeconds = 20
  try {
    await until(`a record is read at ${offsetMs / second} s from now`, async () => {
      const { rows } = await client.query(
        `select from inbox where source in ('api', 'chain') and stored_at > now() - interval '5 minutes'
          and abs(extract(epoch from received_at - stored_at) - $1) < $2 limit 1`,
        [offsetMs / second, toleratedSeconds],
      )
      return rows.length > 0 ? true : null
    })
  } finally {
    await client.end()
  }
}

const steps: readonly Step[] = [
  { title: "the workers' clocks are ten minutes ahead", offsets: () => [10 * minute] },
  { title: "the workers' clocks are ten minutes behind", offsets: () => [-10 * minute] },
  {
    title: "the workers' clocks go backwards in steps",
    offsets: (random) => {
      const stepMs = random.between(30, 90) * second
      return [-stepMs, -2 * stepMs, -3 * stepMs]
    },
  },
]

/** Leases, ticks and the times of rows are by the clock of the database, which all processes share. */
const databaseOff: Fault = {
  name: 'F8',
  title: 'the clock of Postgres goes ten minutes ahead, back, and ten minutes behind',
  ground: 'shared',
  async strike(world, random) {
    for (const offsetMs of [10 * minute, 0, -10 * minute, 0]) {
      await world.postgres.setClock(offsetMs)
      await world.pay(random.between(1, 2))
      await world.untilAtRest()
    }
  },
}

export const clockStepped: readonly Fault[] = [intakeOff, ...steps.map(workersOff), databaseOff]

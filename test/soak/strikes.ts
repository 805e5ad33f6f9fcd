import { setTimeout as sleep } from 'node:timers/promises'
import type { ChaosWorld } from '../chaos/world.ts'

type Strike = { title: string; strike: (world: ChaosWorld) => Promise<void> }

const secondsMs = 3000

/** Those after which the same processes go on, so that their memory can be followed. */
const passing: readonly Strike[] = [
  {
    title: 'no connection to Postgres for 3 s',
    strike: (world) => during(() => world.postgres.proxy.cut(), world.postgres.proxy.heal),
  },
  {
    title: 'no connection to the queue for 3 s',
    async strike({ redis }) {
      if (redis !== null) await during(redis.proxy.cut, redis.proxy.heal)
    },
  },
  {
    title: 'webhooks do not come through for 3 s',
    strike: ({ intake }) => during(intake.proxy.cut, intake.proxy.heal),
  },
  {
    title: 'the service stalls for 3 s',
    strike: ({ service }) => during(service.proxy.stall, service.proxy.heal),
  },
  {
    title: 'the nodes are cut off for 3 s',
    strike: ({ networks }) =>
      during(
        () => networks.forEach(({ proxy }) => proxy.cut()),
        () => networks.forEach(({ proxy }) => proxy.heal()),
      ),
  },
  {
    title: 'every connection to Postgres is ended',
    async strike(world) {
      const client = await world.connect()
      await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'depositd%'`,
      )
      await client.end()
    },
  },
]

const killing: readonly Strike[] = ['http', 'worker'].map((role) => ({
  title: `a process of the role ${role} is killed`,
  async strike(world) {
    const struck = world.daemons().find(({ roles, isRunning }) => roles.includes(role) && isRunning())
    await struck?.kill()
    await world.recover()
  },
}))

/** In the first half of a run processes are killed, too; in the second the same ones live on. */
export function strikesOf(half: 'first' | 'second'): readonly Strike[] {
  return half === 'first' ? [...killing, ...passing] : passing
}

async function during(begin: () => void, end: () => void): Promise<void> {
  begin()
  await sleep(secondsMs)
  end()
}

import { setTimeout as sleep } from 'node:timers/promises'
import type { FailpointName } from '../../../src/failpoint.ts'
import { until } from '../../support/until.ts'
import { inPlaceOf, untilDead, withRole } from '../daemons.ts'
import type { Fault } from '../fault.ts'
import { scrape } from '../hostile/scrape.ts'
import { ask, countRows } from '../looks.ts'
import { payUntil } from '../pay-until.ts'
import type { Random } from '../random.ts'
import { untilSame } from '../until-same.ts'
import type { ChaosWorld, DaemonProcess } from '../world.ts'

type Point = {
  failpoint: FailpointName
  title: string
  /** Rows that only that death leaves; nobody works on them now. */
  left: string
}

const points: readonly Point[] = [
  {
    failpoint: 'events.in_transaction',
    title: 'while events get their numbers',
    left: 'select from event_pending',
  },
  {
    failpoint: 'events.numbered',
    title: 'after events have their numbers, before they are sent',
    left: 'select from event where sequence > (select max(position) from event_endpoint)',
  },
  {
    failpoint: 'events.answered',
    title: 'after the answer to an event, before it is stored',
    left: 'select from event join event_delivery using (sequence) where event.id = any($1)',
  },
]

function killedAt({ failpoint, title, left }: Point): Fault {
  return {
    name: 'F29',
    title: `a worker is killed ${title}`,
    ground: 'shared',
    async strike(world, random) {
      const dieAt = { failpoint, nth: random.between(1, 6) }
      const worker = await inPlaceOf(world, 'worker', { roles: 'worker,scheduler', dieAt })
      await payUntil(world, () => !worker.isRunning())
      await untilDead(worker, failpoint)
      const values = left.includes('$1') ? [arrivedIds(world)] : []
      const isLeft = async () => (await countRows(world, left, values)) > 0 || null
      await until(`rows are left as ${failpoint} leaves them`, isLeft, 10_000)
      world.say(`died at ${failpoint}, time ${dieAt.nth}`)
    },
  }
}

const arrivedIds = ({ events }: ChaosWorld) =>
  events.receiver.arrivals.map(({ headers }) => headers['webhook-id'])

const hourMs = 3_600_000

/** Of all processes that send, the one whose time passes is left: what it dates and waits for is by its own clock. */
const downForDays: Fault = {
  name: 'F29',
  title: 'the receiver of events is down for three days, with a worker killed and Postgres restarted',
  ground: 'shared',
  async strike(world, random) {
    const { proxy, answerWith } = world.events.receiver
    const [newest] = await ask<{ id: string }>(world, 'select max(id)::text as id from event_attempt')
    if (random.pick([true, false])) proxy.cut()
    else answerWith(() => random.pick([404, 500, 503]))
    const dieAt = { failpoint: 'events.answered', nth: random.between(1, 3) }
    const killed = await inPlaceOf(world, 'worker', { roles: 'worker,scheduler', dieAt })
    await payUntil(world, () => !killed.isRunning())
    await untilDead(killed, dieAt.failpoint)
    // With an option it is not one of the world's own, and ends with the fault.
    const worker = await world.start('worker,scheduler', { environment: {} })
    const hours = await untilPaused(world, { worker, random, tried: newest?.id ?? '0' })
    await untilSame('endpoints that the metric shows as stopped', () => stoppedOf(worker), 1)
    // What it sent now would be signed days ahead.
    await worker.kill()
    world.events.recover()
    await world.events.command('resume')
    world.say(`the endpoint paused after ${hours} hours`)
  },
}

/** `tried`: the newest attempt before the receiver was down. */
type DownFor = { worker: DaemonProcess; random: Random; tried: string }

/** Lets time pass by hours, until the daemon gives up. @returns the hours */
async function untilPaused(world: ChaosWorld, { worker, random, ...before }: DownFor): Promise<number> {
  const restartedAt = random.between(2, 5)
  let tried = await attemptAfter(world, before.tried)
  for (let step = 1, hours = 0; ; step++) {
    if (step === restartedAt) {
      await world.postgres.kill()
      await world.postgres.start()
    }
    if (random.pick([true, false])) await world.pay(1)
    const more = random.between(3, 12)
    await worker.passTime(more * hourMs)
    tried = await attemptAfter(world, tried)
    const [paused] = await ask<{ reason: string }>(
      world,
      `select reason from event_endpoint where state = 'paused'`,
    )
    if ((paused !== undefined) !== hours + more >= 72)
      throw new Error(`after ${hours + more} hours of failures the endpoint is ${paused?.reason ?? 'active'}`)
    hours += more
    if (paused !== undefined) return hours
  }
}

/** Waits for the next failed attempt. @returns its number */
function attemptAfter(world: ChaosWorld, last: string): Promise<string> {
  return until('an event is tried again', async () => {
    const [newest] = await ask<{ id: string }>(
      world,
      'select id from event_attempt where id > $1 and status is distinct from 204 order by id desc limit 1',
      [last],
    )
    return newest?.id ?? null
  })
}

const stoppedOf = async ({ opsUrl }: DaemonProcess) =>
  (await scrape(opsUrl)).value('depositd_event_endpoints{state="stopped"}')

/** Each is sent again, and what was sent before comes once more. */
const sentAgain: Fault = {
  name: 'F29',
  title: 'answers to events are lost, the receiver fails now and then, and all is replayed',
  ground: 'shared',
  async strike(world, random) {
    const { proxy, answerWith, arrivals } = world.events.receiver
    answerWith(() => (random.fraction() < 0.2 ? 503 : 204))
    for (const type of random.shuffled(['deposit.observed', 'deposit.credit_safe', 'deposit.reconciled'])) {
      const lost = proxy.cutAfterSent(Buffer.from(`"${type}"`))
      await world.pay(1)
      await lost
    }
    answerWith(() => 204)
    const before = arrivals.length
    await world.events.command('replay', '--from', '1')
    const first = arrivals[0]?.headers['webhook-id']
    await until('the first event comes again', () => {
      const isAgain = arrivals.slice(before).some(({ headers }) => headers['webhook-id'] === first)
      return isAgain || null
    })
  },
}

/** Whoever reads the feed is killed, and so is what it reads from, at any moment. */
const consumerKilled: Fault = {
  name: 'F29',
  title: 'the consumer of events and the API are killed again and again',
  ground: 'shared',
  async strike(world, random) {
    const { consumer } = world.events
    for (let round = random.between(2, 4); round > 0; round--) {
      const paying = world.pay(random.between(1, 2))
      await sleep(random.between(0, 1500))
      await consumer.kill()
      consumer.start()
      await paying
      for (const daemon of withRole(world, 'http')) await daemon.kill()
      await world.start('http')
    }
  },
}

export const eventsSent: readonly Fault[] = [...points.map(killedAt), downForDays, sentAgain, consumerKilled]

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { judge } from '../soak/judge.ts'
import { soakWorld } from '../soak/soak.ts'
import { redisInstalled } from '../support/redis.ts'
import { tamper } from '../support/tamper.ts'
import { allFaults } from './all-faults.ts'
import { isStopped, running, withRole } from './daemons.ts'
import { wrongCredits } from './events/credits.ts'
import { holdTruth } from './hold-truth.ts'
import { holdGrowing, holdResumed } from './liveness.ts'
import { sendOwn } from './own-webhooks.ts'
import { createRandom } from './random.ts'
import { startChaosWorld } from './start-world.ts'
import { strike } from './strike.ts'
import { startTwinOf, type TwinComparison } from './twin.ts'
import type { ChaosWorld, DaemonProcess } from './world.ts'

/**
 * The whole deck, with the queue on Redis and on Postgres, is `npm run chaos -- --seeds 16`; these are quick, and each
 * strikes another part. Postgres and Redis are killed by `goWrongInEveryWay`; `test/jobs/queue/queue-outage.test.ts` empties
 * Redis, and `test/jobs/events/killed-sender.test.ts` kills the sender of events.
 */
const shortSet = [
  'the daemon is killed after the commit, before 202',
  'a worker is killed inside the posting transaction',
  'the connection is cut behind COMMIT',
]

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000)
const withinMs = 600_000

const backend = redisInstalled() ? 'redis' : 'postgres'

describe(`with the queue on ${backend} (seed ${seed})`, () => {
  const stack = new AsyncDisposableStack()
  let world: ChaosWorld
  beforeAll(async () => {
    world = await startChaosWorld({ backend }, stack)
  }, withinMs)
  afterAll(() => stack.disposeAsync(), withinMs)

  const faults = allFaults.filter(
    (fault) => shortSet.includes(fault.title) && (fault.backend ?? backend) === backend,
  )

  test.each(faults.map((fault) => [`${fault.name}: ${fault.title}`, fault] as const))(
    '%s',
    { timeout: withinMs },
    async (_name, fault) => {
      expect((await strike(world, fault, createRandom(seed))).problems).toEqual([])
    },
  )

  test('a world that went wrong in every way works again, with what it began with', {
    timeout: withinMs,
  }, async () => {
    const rolesOf = () =>
      running(world)
        .map(({ roles }) => roles)
        .toSorted()
    const usual = rolesOf()
    await world.pay(3)
    const goneWrong = await goWrongInEveryWay(world)
    await world.recover()
    expect(rolesOf()).toEqual(usual)
    expect(goneWrong.ended.map((daemon) => daemon.isRunning())).toEqual([false, false, false])
    expect(goneWrong.stopped.isRunning() && isStopped(goneWrong.stopped)).toBe(false)
    expect(await sendOwn(world, 'recovered')).toMatchObject({ status: 202 })
    expect(await holdResumed(world)).toBeGreaterThan(0)
    await world.pay(3)
    await world.untilAtRest()
    await holdTruth(world)
    await world.events.hold(world.paid)
    const { entries } = world.events.consumer.credits()
    const client = await world.connect()
    for (const wrong of [entries.slice(1), [...entries, ...entries.slice(0, 1)]])
      expect(await wrongCredits(client, wrong, world.paid)).toHaveLength(2)
    await client.end()
  })

  test('what does not go on is told of, and its lag grows', { timeout: withinMs }, async () => {
    world.service.proxy.cut()
    await expect(holdResumed(world, 5000)).rejects.toThrow(
      /no work 5000 ms after the recovery: .*poll was not read/,
    )
    const [http] = withRole(world, 'http')
    if (http === undefined) throw new Error('no process takes webhooks')
    await holdGrowing(http, 'depositd_poll_age_seconds{service="default"}')
    await expect(holdGrowing(http, 'depositd_no_such_series', 100)).rejects.toThrow(/it is not told/)
    await world.recover()
    await world.untilAtRest()
  })

  test('a short soak under payments and a fault comes to rest, and its books hold', {
    timeout: withinMs,
  }, async () => {
    const paid = world.paid.length
    const soaked = await soakWorld(world, 0.1)
    expect(soaked.deposits).toBeGreaterThan(paid)
    expect(soaked.samples.at(-1)?.processes).toHaveLength(running(world).length)
    expect(soaked.contradictions).toEqual([])
    expect(judge(soaked).filter(({ isHeld }) => isHeld === false)).toEqual([])
  })

  describe('beside a daemon that nothing struck, which is told the same in another order', () => {
    let compare: TwinComparison
    beforeAll(async () => {
      compare = await startTwinOf(world, stack)
    }, withinMs)

    test('the books are the same', { timeout: withinMs }, async () => {
      expect(await compare()).toEqual([])
    })

    test('what one of them has otherwise is told', { timeout: withinMs }, async () => {
      for (const daemon of running(world)) await daemon.stop()
      await tamper({ url: world.databaseUrl }, ...tampering)
      const found = (await compare(0)).map((line) => line.replace(/: \{.*/, ''))
      const [ours, theirs] = ['1 times here, 0 times there', '0 times here, 1 times there']
      expect(found.toSorted()).toEqual([
        `${theirs}: deposits`,
        `${theirs}: journals`,
        `${ours}: deposits`,
        `${ours}: journals`,
        `${ours}: mismatches`,
      ])
    })
  })
})

const tampering = [
  `update deposit set state = 'held' where id = (select min(id) from deposit where state = 'reconciled')`,
  `update ledger_transfer set amount = amount + 1
    where journal_id = (select min(id) from ledger_journal where kind = 'settlement')`,
  `insert into mismatch (subject, kind, severity, opened_at) values ('transfer/base/0x00/0', 'unreported', 'severe', now())`,
]

/** @returns the process that stands still, and those that have ended or are to end */
async function goWrongInEveryWay(
  world: ChaosWorld,
): Promise<{ stopped: DaemonProcess; ended: DaemonProcess[] }> {
  const [stopped, killed] = withRole(world, 'worker')
  const [http] = withRole(world, 'http')
  if (stopped === undefined || killed === undefined || http === undefined) throw new Error('nothing works')
  const added = await world.start('worker')
  const armed = await world.start('http', { dieAt: { failpoint: 'intake.received', nth: 1_000_000 } })
  await http.setClock(600_000)
  stopped.signal('SIGSTOP')
  await killed.kill()
  for (const { proxy } of world.networks) proxy.stall()
  world.service.proxy.cut()
  world.intake.proxy.cut()
  await world.service.faults.set({ failCallRate: 1 })
  await world.postgres.kill()
  await world.redis?.kill()
  world.postgres.proxy.throttle(1)
  return { stopped, ended: [added, armed, killed] }
}

test('each fault of the short set is in the deck', () => {
  expect(shortSet.filter((title) => !allFaults.some((fault) => fault.title === title))).toEqual([])
})

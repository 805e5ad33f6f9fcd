import type { FailpointName } from '../../../src/failpoint.ts'
import { inPlaceOf, running, untilDead } from '../daemons.ts'
import type { Fault } from '../fault.ts'
import { holdAccepted, holdAnswers, keepSending, sendOwn, storedOf } from '../own-webhooks.ts'
import { lockInbox } from '../postgres-acts.ts'
import { attemptsSince, type ServiceAttempt, serviceNow } from '../service-attempts.ts'
import type { ChaosWorld } from '../world.ts'

type Point = {
  failpoint: FailpointName
  title: string
  /** What is true of the webhook that the process died of. */
  left: { answered: boolean; stored: boolean }
}

const points: readonly Point[] = [
  { failpoint: 'intake.received', title: 'before it verifies', left: { answered: false, stored: false } },
  {
    failpoint: 'intake.committed',
    title: 'after the commit, before 202',
    left: { answered: false, stored: true },
  },
  {
    failpoint: 'intake.answered',
    title: 'after 202, before the wake-up',
    left: { answered: true, stored: true },
  },
]

function killedAt({ failpoint, title, left }: Point): Fault {
  return {
    name: 'F1',
    title: `the daemon is killed ${title}`,
    ground: 'shared',
    async strike(world, random) {
      const nth = random.between(2, 12)
      const since = await serviceNow(world)
      const daemon = await inPlaceOf(world, 'http', { roles: 'http', dieAt: { failpoint, nth } })
      await using sender = keepSending(world, `f1_${daemon.pid}`, { beside: 3 })
      await world.pay(random.between(1, 3))
      await untilDead(daemon, failpoint)
      const own = await sender.stop()
      holdAnswers(own)
      await holdAccepted(world, own)
      await holdLeft(world, left, [...own, ...(await attemptsSince(world, since))])
      world.say(`died at ${failpoint}, time ${nth}, among ${own.length} webhooks`)
    },
  }
}

/** @throws where no webhook was left as one must be that the process died of: then it died of something else. */
async function holdLeft(
  world: ChaosWorld,
  left: Point['left'],
  sent: readonly ServiceAttempt[],
): Promise<void> {
  const stored = await storedOf(
    world,
    sent.map(({ id }) => id),
  )
  const isLeft = ({ id, status }: ServiceAttempt) =>
    (status !== null) === left.answered && stored.has(id) === left.stored
  if (!sent.some(isLeft)) throw new Error(`no webhook was left ${JSON.stringify(left)}`)
}

/** Rows wait for a lock that the fault holds, so that the commit cannot happen before the process is dead. */
const insideTheCommit: Fault = {
  name: 'F1',
  title: 'the daemon is killed inside the group commit',
  ground: 'shared',
  async strike(world, random) {
    const isEnded = random.pick([true, false])
    const daemon = await inPlaceOf(world, 'http', { roles: 'http', dieAt: { failpoint: 'statement.sent' } })
    await using lock = await lockInbox(world)
    const id = `f1_commit_${daemon.pid}`
    const answer = sendOwn(world, id)
    await untilDead(daemon, 'statement.sent')
    const { status } = await answer
    if (status !== null) throw new Error(`answered ${status} before the commit`)
    await lock.untilWaiting()
    if ((await storedOf(world, [id])).has(id))
      throw new Error('the row was committed before the lock was given back')
    if (isEnded) await lock.endWaiting()
    await lock.release()
    await world.pay(random.between(1, 3))
    world.say(isEnded ? 'the statement was ended' : 'the statement was committed after its sender died')
  },
}

/** One process has all roles: with it everything stands still. */
const duringTheSweep: Fault = {
  name: 'F1',
  title: 'the daemon is killed during the sweep',
  ground: 'shared',
  async strike(world, random) {
    for (const daemon of running(world)) await daemon.kill()
    const dieAt = { failpoint: 'sweep.began', nth: random.between(1, 4) }
    const daemon = await world.start('http,worker,scheduler', { dieAt })
    await using sender = keepSending(world, `f1_sweep_${daemon.pid}`)
    await world.pay(random.between(1, 3))
    await untilDead(daemon, dieAt.failpoint)
    const answered = await sender.stop()
    holdAnswers(answered)
    await holdAccepted(world, answered)
    world.say(`died in sweep ${dieAt.nth}, among ${answered.length} webhooks`)
  },
}

export const daemonKilled: readonly Fault[] = [...points.map(killedAt), insideTheCommit, duringTheSweep]

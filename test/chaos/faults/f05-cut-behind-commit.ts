import { until } from '../../support/until.ts'
import type { Fault } from '../fault.ts'
import { holdAccepted, holdAnswers, sendOwn, storedOf } from '../own-webhooks.ts'

/** The simple query `commit`, as the protocol frames it: nothing else that is sent has these bytes in it. */
const commit = Buffer.concat([Buffer.from('Q'), Buffer.from([0, 0, 0, 11]), Buffer.from('commit\0')])

/** The group commit is one statement, which commits by itself: the webhook's own id tells it from all others. */
const behindIntake: Fault = {
  name: 'F5',
  title: 'the connection is cut behind the statement of a group commit',
  ground: 'shared',
  async strike(world, random) {
    const rounds = random.between(2, 5)
    const salt = random.between(0, 999_999_999)
    await world.pay(1)
    for (let round = 0; round < rounds; round++) {
      const id = `f5_${salt}_${round}`
      const cut = world.postgres.proxy.cutAfterSent(Buffer.from(id))
      const first = await sendOwn(world, id)
      await cut
      holdAnswers([first])
      if (first.status === 202) throw new Error('answered 202, although the answer to the commit was cut off')
      await until('what was sent is committed', async () =>
        (await storedOf(world, [id])).has(id) ? true : null,
      )
      // The sender comes again, as it was told to, and is told that all is well.
      const again = await until('the webhook is taken', async () => {
        const answered = await sendOwn(world, id)
        return answered.status === 202 ? answered : null
      })
      await holdAccepted(world, [again])
    }
    world.say(`${rounds} group commits went unanswered, and came again`)
  },
}

/** Whoever sent it does not know whether it was committed. */
const behindCommit: Fault = {
  name: 'F5',
  title: 'the connection is cut behind COMMIT',
  ground: 'shared',
  async strike(world, random) {
    const rounds = random.between(4, 10)
    const paying = world.pay(random.between(2, 4))
    for (let round = 0; round < rounds; round++) await world.postgres.proxy.cutAfterSent(commit)
    await paying
    await world.pay(1)
    world.say(`${rounds} commits went unanswered`)
  },
}

export const cutBehindCommit: readonly Fault[] = [behindIntake, behindCommit]

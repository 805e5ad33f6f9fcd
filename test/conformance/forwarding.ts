import type { Run } from './fact.ts'
import { networks } from './identities.ts'
import { must, NotChecked } from './outcome.ts'
import { openChannel } from './owners.ts'
import { balanceOf, pay, payChannels, payOthers, untilArrived, untilListed } from './payments.ts'
import { lent, type Subject } from './subject.ts'

/** What is paid on one network arrives on another. */
export async function mustForward(run: Run): Promise<void> {
  const [first] = await run.once(payChannels)
  must(first !== undefined, 'there is a route')
  await untilArrived(run.subject, first.channel)
}

/** Whatever the network and the asset of the payment. */
export async function mustForwardAll(run: Run): Promise<void> {
  if (run.subject.others.length === 0) throw new NotChecked('needs --other, a payment that is converted')
  const paid = await Promise.all([run.once(payChannels), run.once(payOthers)])
  await Promise.all(paid.flat().map(({ channel }) => untilArrived(run.subject, channel)))
}

/** Each address of one channel takes deposits that go to its one destination. */
export async function mustForwardFromEveryAddress(run: Run): Promise<void> {
  await run.once(forwardFromEveryAddress)
}

/** One after the other, so that each is seen to add to what has arrived: what the fee is, is not shown. */
async function forwardFromEveryAddress(subject: Subject): Promise<void> {
  const channel = await openChannel(subject, 'base')
  let arrived = 0n
  for (const network of networks) {
    await pay(subject, channel, { network, asset: 'USDC', amount: subject.amount })
    arrived = await untilArrived(subject, channel, arrived)
  }
}

/**
 * With a policy that holds what a channel gets, nothing is forwarded, while a channel without one, paid later,
 * forwards. How a policy is made is not shown, so a command makes it.
 */
export async function mustHold({ subject }: Run): Promise<void> {
  const [ruled, free] = await Promise.all([openChannel(subject, 'base'), openChannel(subject, 'base')])
  await lent(subject, 'hold', ruled.id)
  const trial = { network: 'base', asset: 'USDC', amount: subject.amount }
  await untilListed(subject, await pay(subject, ruled, trial))
  await pay(subject, free, trial)
  await untilArrived(subject, free)
  const arrived = await balanceOf(subject, 'base', ruled.recipient)
  must(arrived === 0n, 'the deposit was forwarded in spite of the policy')
}

import { isInBand } from '../judging/fee.ts'
import { isTolerated } from '../judging/tolerance.ts'
import type { Policy } from '../policy.ts'
import type { CandidatePair, RuleResult } from './propose.ts'

export type ScoringRule = {
  name: string
  /** In hundredths of the score; those of one list add up to 100. */
  weight: number
  /** Without it, nothing is proposed. */
  isNeeded: boolean
  hold: (
    pair: CandidatePair,
    by: { policy: Policy; senders: ReadonlySet<string> },
  ) => Pick<RuleResult, 'fulfilled' | 'compares'>
}

const asset: Omit<ScoringRule, 'weight'> = {
  name: 'asset',
  isNeeded: true,
  hold: ({ transfer, deposit }) => same(transfer.asset, deposit.asset ?? 'none stated'),
}

const transaction: Omit<ScoringRule, 'weight'> = {
  name: 'transaction',
  isNeeded: false,
  hold: ({ transfer, deposit: { tx } }) => ({
    fulfilled: tx === null || tx === transfer.tx,
    compares: tx === null ? 'the service names none' : `the service names ${tx}`,
  }),
}

const address: Omit<ScoringRule, 'weight' | 'name'> = {
  isNeeded: true,
  hold: ({ transfer, deposit }) =>
    same(`${transfer.network}/${transfer.to}`, `${deposit.network}/${deposit.address}`),
}

/** Whether a transfer is the payment that the service states, which names no transaction, or another one. */
export const paymentRules: readonly ScoringRule[] = [
  { name: 'address', weight: 25, ...address },
  { weight: 20, ...asset },
  {
    name: 'amount',
    weight: 30,
    isNeeded: true,
    hold: ({ transfer, deposit }) =>
      same(transfer.amount.toString(), deposit.amount?.toString() ?? 'none stated'),
  },
  {
    name: 'time',
    weight: 15,
    isNeeded: false,
    hold: ({ transfer, deposit }, { policy: { chainWithinMs, reportWithinMs, clockSkewMs } }) =>
      within(transfer.at, {
        from: plus(deposit.since, -(chainWithinMs + reportWithinMs)),
        to: plus(deposit.since, clockSkewMs),
      }),
  },
  { weight: 10, ...transaction },
]

/** Whether a transfer to a recipient is the delivery of a deposit that was paid and not delivered. */
export const deliveryRules: readonly ScoringRule[] = [
  { name: 'recipient', weight: 20, ...address },
  { weight: 15, ...asset },
  {
    name: 'amount',
    weight: 25,
    isNeeded: true,
    hold: (pair, { policy }) => holdAmount(pair, policy),
  },
  {
    name: 'order',
    weight: 5,
    isNeeded: true,
    hold: ({ transfer, deposit }, { policy: { clockSkewMs } }) => ({
      fulfilled: transfer.at >= plus(deposit.since, -clockSkewMs),
      compares: `paid ${deposit.since.toISOString()}, delivered ${transfer.at.toISOString()}`,
    }),
  },
  {
    name: 'sender',
    weight: 10,
    isNeeded: false,
    hold: ({ transfer: { network, from } }, { senders }) => ({
      fulfilled: from !== null && senders.has(`${network}/${from}`),
      compares: from ?? 'the chain names none',
    }),
  },
  {
    name: 'time',
    weight: 15,
    isNeeded: false,
    hold: ({ transfer, deposit }, { policy: { settlementWithinMs, clockSkewMs } }) =>
      within(transfer.at, {
        from: plus(deposit.since, -clockSkewMs),
        to: plus(deposit.finalAt ?? deposit.since, settlementWithinMs),
      }),
  },
  { weight: 10, ...transaction },
]

/** What the service states, to the tolerance; where it states nothing, what a share of the payment leaves as the fee. */
function holdAmount(
  { transfer, deposit }: CandidatePair,
  policy: Policy,
): Pick<RuleResult, 'fulfilled' | 'compares'> {
  const { amount: stated, paid } = deposit
  const { fee } = policy
  if (stated !== null) {
    return {
      fulfilled: isTolerated(transfer.amount, stated, policy),
      compares: `${transfer.amount}, ${stated} stated`,
    }
  }
  if (fee.kind === 'stated' || fee.kind === 'fixed')
    return { fulfilled: false, compares: `${transfer.amount}, none stated` }
  const { units } = fee
  const scaled = paid.amount * units.delivered - transfer.amount * units.paid
  return {
    fulfilled: isInBand({ scaled, paid: paid.amount * units.delivered }, fee),
    compares: `${transfer.amount} of ${paid.amount} paid, by the fee`,
  }
}

function same(one: string, other: string): Pick<RuleResult, 'fulfilled' | 'compares'> {
  return { fulfilled: one === other, compares: one === other ? one : `${one}, ${other}` }
}

function within(
  time: Date,
  { from, to }: { from: Date; to: Date },
): Pick<RuleResult, 'fulfilled' | 'compares'> {
  const compares = `${time.toISOString()}, ${from.toISOString()} to ${to.toISOString()}`
  return { fulfilled: time >= from && time <= to, compares }
}

function plus(time: Date, ms: number): Date {
  return new Date(time.getTime() + ms)
}

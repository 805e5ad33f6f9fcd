import { type DecidedDeposit, decide, type ObservationGroup } from '../../src/core/decide.ts'
import type { Amount } from '../../src/core/money.ts'
import type { Policy } from '../../src/core/policy.ts'
import type { Journal } from '../../src/core/posting.ts'
import { at, channelApproval, claim, delivery, payment, policy, webhook } from './evidence.ts'

export type Observations = ObservationGroup['observations']

export const amount = (base: bigint) => base as Amount

export function decided(
  observations: Observations,
  changes: Partial<Policy>,
  journals: readonly Journal[] = [],
) {
  const rules = { policy: { ...policy, ...changes }, routes: [], senders: new Set<string>() }
  const group = { observations, approvals: [channelApproval], deposits: [], journals }
  const [deposit] = decide(group, rules, at(600)).deposits
  return deposit as DecidedDeposit
}

/** The state, then the kinds of all that is wrong. */
export function outcome(observations: Observations, changes: Partial<Policy> = {}): string {
  const { verdict } = decided(observations, changes)
  return [verdict.state, ...verdict.mismatches.map(({ kind }) => kind)].join(' ')
}

/** What the accounts hold after these journals, without those that hold nothing. */
export function balances(journals: readonly Journal[]): Record<string, bigint> {
  const sums = new Map<string, bigint>()
  const add = (key: string, sum: bigint) => sums.set(key, (sums.get(key) ?? 0n) + sum)
  for (const { debit, credit, asset, amount: moved } of journals.flatMap(({ transfers }) => transfers)) {
    add(`${debit} ${asset}`, moved)
    add(`${credit} ${asset}`, 0n - moved)
  }
  return Object.fromEntries([...sums].filter(([, sum]) => sum !== 0n))
}

/** 99.9 USDC are stated to be delivered. */
export const delivered = (base: bigint): Observations => [
  webhook(),
  claim(),
  payment(),
  delivery({ amount: amount(base) }),
]

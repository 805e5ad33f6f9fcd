import type { ObservationGroup } from '../../src/core/decide.ts'
import { at, channelApproval, liquidity, policy, walletApproval } from './evidence.ts'
import { decideSearched } from './searched.ts'

type Observations = ObservationGroup['observations']

const rules = { policy, routes: [], senders: new Set([`arbitrum/${liquidity}`]) }

/** Long after every deadline of the policy has passed. */
export const late = at(600)

export function decided(observations: Observations, now = late) {
  const approvals = [channelApproval, walletApproval]
  return decideSearched({ observations, approvals, deposits: [], journals: [] }, rules, now)
}

/** The states of the deposits, then the kinds of all that is wrong. */
export function outcome(observations: Observations, now = late): string {
  const { deposits, unmatchedDeliveries } = decided(observations, now)
  const states = deposits.map(({ verdict }) => verdict.state)
  const kinds = deposits.flatMap(({ verdict }) => verdict.mismatches.map(({ kind }) => kind))
  return [...states, ...kinds, ...unmatchedDeliveries.map(({ mismatch }) => mismatch.kind)].join(' ')
}

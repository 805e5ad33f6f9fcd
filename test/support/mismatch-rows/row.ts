import type {
  DecisionOutcome,
  Observation,
  ObservedChainTransfer,
  ServiceId,
  TransferDecision,
} from '../../../src/core/evidence.ts'
import type { Approval } from '../../../src/core/matching/divide.ts'
import type { Mismatch, MismatchKind } from '../../../src/core/mismatch.ts'
import type { Policy } from '../../../src/core/policy.ts'
import {
  at,
  channelApproval,
  claim,
  liquidity,
  payment,
  policy,
  walletApproval,
  webhook,
} from '../evidence.ts'
import { late } from '../outcome.ts'
import { decideSearched } from '../searched.ts'

export type Evidence = readonly Observation[]

/** What a decision is made from, where it is not the made-up world's own. */
export type Change = {
  /** Comes on top of what is there. */
  evidence?: Evidence
  /** Owners that are in the address book beside the two of the made-up world. */
  approvals?: readonly Approval[]
  policy?: Partial<Policy>
  now?: Date
}

/** One kind of mismatch: what opens it, what is alike but for the cause, and each way in which it ends. */
export type Row = {
  kind: MismatchKind
  /** What has happened. */
  where: string
  opens: Change
  /** The same without the cause. */
  without: Change
  /** By what it ends: added to what opens it, or in place of that. */
  ends: Readonly<Record<string, Change>>
}

export const first = 'dep_1' as ServiceId
export const second = 'dep_2' as ServiceId

/** Both voices of the service say it. */
export function reported(changes: Parameters<typeof claim>[0] = {}): Evidence {
  return [webhook(changes), claim(changes)]
}

/** The service says it anew, later than all else. */
export function corrected(changes: Parameters<typeof claim>[0] = {}): Evidence {
  return reported({ occurredAt: at(9), receivedAt: at(10), ...changes })
}

/** What a person decided about a transfer. */
export function ruled(verdict: DecisionOutcome, about: ObservedChainTransfer = payment()): TransferDecision {
  const { role, network, tx, index, to } = about
  const said = { by: 'ana', approvedBy: null, reason: 'looked up' }
  return {
    kind: 'decision',
    id: 'ruling 1',
    role,
    network,
    tx,
    index,
    to,
    verdict,
    ...said,
    receivedAt: at(120),
  }
}

/** All that is wrong; of what comes on top, policy and time are in place of the first ones. */
export function mismatchesOf(...changes: readonly Change[]): Mismatch[] {
  const { evidence, approvals, ...rest } = changes.reduce((sum, change) => ({
    ...sum,
    ...change,
    evidence: [...(sum.evidence ?? []), ...(change.evidence ?? [])],
  }))
  const group = {
    observations: evidence ?? [],
    approvals: [channelApproval, walletApproval, ...(approvals ?? [])],
    deposits: [],
    journals: [],
  }
  const rules = {
    policy: { ...policy, ...rest.policy },
    routes: [],
    senders: new Set([`arbitrum/${liquidity}`]),
  }
  const { deposits, unmatchedDeliveries, withdrawals } = decideSearched(group, rules, rest.now ?? late)
  return [
    ...deposits.flatMap(({ verdict }) => verdict.mismatches),
    ...unmatchedDeliveries.map((one) => one.mismatch),
    ...withdrawals.flatMap(({ mismatch }) => mismatch ?? []),
  ]
}

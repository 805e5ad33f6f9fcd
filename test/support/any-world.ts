import * as fc from 'fast-check'
import {
  type DecisionOutcome,
  encodeObservation,
  type Observation,
  type OutstandingAmount,
  type ServiceId,
  type TransferDecision,
  transferRef,
} from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import { anyClaimHistory, anyMinute, observationsOf, serviceIdOf } from './any-claim-history.ts'
import { anyEvidence } from './any-evidence.ts'
import { at } from './evidence.ts'

const anyDecision = fc.record({
  verdict: fc.constantFrom<DecisionOutcome['kind']>('together', 'apart', 'write_off', 'write_off_withdrawn'),
  about: fc.nat(),
  of: fc.integer({ min: 0, max: 3 }),
  minutes: anyMinute,
})

type Decided = typeof anyDecision extends fc.Arbitrary<infer Found> ? Found : never

/** What somebody decides about one of the transfers. */
function decisionOf(
  { verdict, about, of, minutes }: Decided,
  number: number,
  all: readonly Observation[],
): TransferDecision[] {
  const transfers = all.filter((one) => one.kind === 'chain_transfer')
  const transfer = transfers[about % Math.max(1, transfers.length)]
  if (transfer === undefined) return []
  const { role, network, tx, index, to, asset } = transfer
  const amount = (transfer.amount + BigInt((of % 3) - 1)) as Amount
  const outstanding = { of: of === 3 ? 'shortage' : 'in_transit', asset, amount } as const
  return [
    {
      kind: 'decision',
      id: `ruling ${number}`,
      role,
      network,
      tx,
      index,
      to,
      verdict: verdictOf(verdict, serviceIdOf(of), outstanding),
      by: 'ann',
      approvedBy: null,
      reason: 'as agreed',
      receivedAt: at(minutes),
    },
  ]
}

function verdictOf(
  kind: DecisionOutcome['kind'],
  serviceId: ServiceId,
  outstanding: OutstandingAmount,
): DecisionOutcome {
  if (kind === 'together' || kind === 'apart') return { kind, serviceId }
  return kind === 'write_off' ? { kind, account: 'expenses:write_off', ...outstanding } : { kind }
}

/**
 * All that is told of a few deposits on two networks, to channels and a wallet: true, late, contradicting and withdrawn,
 * with payments and deliveries that several share. No two of it are the same observation to the inbox.
 */
export const anyWorld: fc.Arbitrary<Observation[]> = fc
  .record({
    claimHistories: fc.array(anyClaimHistory, { minLength: 1, maxLength: 4 }),
    decisions: fc.array(anyDecision, { maxLength: 2 }),
    noise: fc.oneof({ arbitrary: fc.constant([]), weight: 3 }, { arbitrary: anyEvidence, weight: 1 }),
  })
  .map(({ claimHistories, decisions, noise }) => {
    const reported = [...claimHistories.flatMap(observationsOf), ...noise]
    const ruled = decisions.flatMap((decision, number) => decisionOf(decision, number, reported))
    return [...new Map([...reported, ...ruled].map((one) => [inboxKey(one), one])).values()]
  })

/** By what the inbox tells one observation from another; it keeps the first of a key. */
function inboxKey(observation: Observation): string {
  if (observation.kind === 'claim') return encodeObservation(observation)
  if (observation.kind === 'decision') return observation.id
  if (observation.kind === 'search' || observation.kind === 'withdrawal')
    return encodeObservation(observation)
  const { role, network, tx, to } = observation
  if (observation.kind === 'failure') return `${network}/${tx}/failed/${role}/${to}`
  const { stage, epoch, blockHash } = observation
  return `${transferRef(observation)}/${role}/${stage}/${epoch}/${blockHash}`
}

import { type Claim, type Observation, type ObservedChainTransfer, transferRef } from '../evidence.ts'
import type { DepositVerdict } from '../judging/reconcile.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import type { ChainLeg } from '../matching/fold.ts'
import type { Policy } from '../policy.ts'

export type VerdictReason = {
  /** `state`, a cell like `deposit.api`, `payment`, `delivery`, `refund`, or `mismatch` or `awaited` with its kind. */
  what: string
  says: string
  /** Inbox rows; empty if the reason is that evidence is missing. */
  evidence: readonly bigint[]
  rule: string
  /** With its value; null if no policy line decided. */
  policy: string | null
  /** Past or future; null if nothing is awaited. */
  until: Date | null
}

export type VerdictContext = { evidence: DepositEvidence; verdict: DepositVerdict; policy: Policy }

export type StoredObservation = { inboxId: bigint; observation: Observation }

export type InboxRowIndex = ReturnType<typeof indexInboxRows>

/** By identity: the fold keeps the claim objects it was given. */
export function indexInboxRows(stored: readonly StoredObservation[]) {
  const rowOf = new Map<Observation, bigint>(stored.map(({ inboxId, observation }) => [observation, inboxId]))
  const idsOf = (observations: readonly (Observation | null)[]) =>
    observations.map((one) => (one === null ? undefined : rowOf.get(one))).filter((id) => id !== undefined)
  const chainTransfers = Map.groupBy(
    stored.flatMap(({ observation }) => (observation.kind === 'chain_transfer' ? [observation] : [])),
    legKey,
  )
  const ofLeg = (leg: ChainLeg | null) =>
    leg === null ? [] : idsOf(chainTransfers.get(`${leg.role} ${leg.ref}`) ?? [])
  return {
    ofClaim: (claim: Claim | null) => idsOf([claim]),
    ofLeg,
    ofDecision: (id: string | null) =>
      stored.flatMap(({ inboxId, observation }) =>
        observation.kind === 'decision' && observation.id === id ? [inboxId] : [],
      ),
    /** Oldest first. */
    ofEvidence({ webhook, api, deposit, settlements, refunds, failures }: DepositEvidence) {
      const ids = [
        ...idsOf([webhook, api, ...failures]),
        ...[deposit, ...settlements, ...refunds].flatMap(ofLeg),
      ]
      return [...new Set(ids)].toSorted((left, right) => (left < right ? -1 : 1))
    },
  }
}

function legKey(chainTransfer: ObservedChainTransfer): string {
  return `${chainTransfer.role} ${transferRef(chainTransfer)}`
}

import { type Claim, type Observation, type ObservedChainTransfer, transferRef } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import type { ChainLeg } from '../matching/fold.ts'

/** An observation, and the number of its inbox row. */
export type StoredObservation = { inboxId: bigint; observation: Observation }

/** Finds the inbox rows behind folded evidence. */
export type InboxRowIndex = {
  ofClaim(claim: Claim | null): bigint[]
  /** Every observation of the transfer in that role. */
  ofLeg(leg: ChainLeg | null): bigint[]
  ofDecision(id: string | null): bigint[]
  /** All rows by which the deposit is judged, oldest first. */
  ofEvidence(evidence: DepositEvidence): bigint[]
}

/** Claims are looked up by identity: the fold keeps the claim objects it was given. */
export function sourcesOf(stored: readonly StoredObservation[]): InboxRowIndex {
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
    ofClaim: (claim) => idsOf([claim]),
    ofLeg,
    ofDecision: (id) =>
      stored.flatMap(({ inboxId, observation }) =>
        observation.kind === 'decision' && observation.id === id ? [inboxId] : [],
      ),
    ofEvidence({ webhook, api, deposit, settlements, refunds, failures }) {
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

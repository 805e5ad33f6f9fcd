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
  ofRuling(id: string | null): bigint[]
  /** All rows by which the deposit is judged, oldest first. */
  ofDossier(dossier: DepositEvidence): bigint[]
}

/** Claims are looked up by identity: the fold keeps the claim objects it was given. */
export function sourcesOf(stored: readonly StoredObservation[]): InboxRowIndex {
  const rowOf = new Map<Observation, bigint>(stored.map(({ inboxId, observation }) => [observation, inboxId]))
  const idsOf = (observations: readonly (Observation | null)[]) =>
    observations.map((one) => (one === null ? undefined : rowOf.get(one))).filter((id) => id !== undefined)
  const sightings = Map.groupBy(
    stored.flatMap(({ observation }) => (observation.kind === 'sighting' ? [observation] : [])),
    legKey,
  )
  const ofLeg = (leg: ChainLeg | null) =>
    leg === null ? [] : idsOf(sightings.get(`${leg.role} ${leg.ref}`) ?? [])
  return {
    ofClaim: (claim) => idsOf([claim]),
    ofLeg,
    ofRuling: (id) =>
      stored.flatMap(({ inboxId, observation }) =>
        observation.kind === 'ruling' && observation.id === id ? [inboxId] : [],
      ),
    ofDossier({ webhook, api, deposit, settlements, refunds, failures }) {
      const ids = [
        ...idsOf([webhook, api, ...failures]),
        ...[deposit, ...settlements, ...refunds].flatMap(ofLeg),
      ]
      return [...new Set(ids)].toSorted((left, right) => (left < right ? -1 : 1))
    },
  }
}

function legKey(sighting: ObservedChainTransfer): string {
  return `${sighting.role} ${transferRef(sighting)}`
}

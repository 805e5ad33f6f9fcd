import { type Claim, type Observation, type ObservedChainTransfer, transferRef } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import type { ChainLeg } from '../matching/fold.ts'

/** An observation, and the number of the inbox row that it was read from. */
export type StoredObservation = { inboxId: bigint; observation: Observation }

/** Finds the inbox rows behind what was folded. */
export type InboxRowIndex = {
  ofClaim(claim: Claim | null): bigint[]
  /** Every sighting of the transfer in that role. */
  ofLeg(leg: ChainLeg | null): bigint[]
  ofRuling(id: string | null): bigint[]
  /** All that the deposit is judged by, oldest first. */
  ofDossier(dossier: DepositEvidence): bigint[]
}

/** The fold keeps the very claims it was given, so that they are known again. */
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

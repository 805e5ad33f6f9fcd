import { type DecidedDeposit, decide, type ObservationGroup, type Rules } from '../decide.ts'
import { linkKeys, type Observation, transferRef } from '../evidence.ts'
import { components } from '../matching/components.ts'
import type { StoredObservation } from './verdict-reason.ts'

/** Each piece with the time since which it was known. */
export type DatedEvidence = {
  observations: readonly (StoredObservation & { knownAt: Date })[]
  /** The last known one of an address applies. */
  approvals: readonly { approval: ObservationGroup['approvals'][number]; knownAt: Date }[]
  deposits: readonly { deposit: ObservationGroup['deposits'][number]; knownAt: Date }[]
  journals: readonly { journal: ObservationGroup['journals'][number]; knownAt: Date }[]
}

/** One group of today may have been several then: the keys that join it may have arrived later. */
export function decideAsOf(group: DatedEvidence, rules: Rules, at: Date): DecidedDeposit[] {
  const isKnown = ({ knownAt }: { knownAt: Date }) => knownAt <= at
  const observations = group.observations.filter(isKnown).map(({ observation }) => observation)
  const approvals = group.approvals.filter(isKnown).map(({ approval }) => approval)
  const current = new Map(approvals.map((one) => [`${one.network}/${one.address}`, one]))
  const deposits = group.deposits.filter(isKnown).map(({ deposit }) => deposit)
  const journals = group.journals.filter(isKnown).map(({ journal }) => journal)
  return components(observations, linkKeys).flatMap((linked) => {
    const keys = new Set<string | null>(linked.map(identityKey))
    const own = {
      deposits: deposits.filter(({ serviceId, transfer }) => keys.has(serviceId ?? transfer)),
      journals: journals.filter(({ transfer }) => keys.has(transfer)),
    }
    return decide({ observations: linked, approvals: [...current.values()], ...own }, rules, at).deposits
  })
}

function identityKey(observation: Observation): string | null {
  if (observation.kind === 'claim') return observation.serviceId
  return observation.kind === 'chain_transfer' ? transferRef(observation) : null
}

/** True if the earlier deposit has become the other one. */
export function isSameDeposit(earlier: DecidedDeposit, now: DecidedDeposit): boolean {
  const { serviceId, deposit } = earlier.evidence
  const isNamed = serviceId !== null && serviceId === now.evidence.serviceId
  const isPaid = serviceId === null && deposit !== null && deposit.ref === now.evidence.deposit?.ref
  return isNamed || isPaid
}

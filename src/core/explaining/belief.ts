import { type DecidedDeposit, decide, type ObservationGroup, type Rules } from '../decide.ts'
import { linkKeys, type Observation, transferRef } from '../evidence.ts'
import { components } from '../matching/components.ts'
import type { StoredObservation } from './explain-sources.ts'

/** What is known of a group, each piece with the time from which it was known. */
export type DatedGroup = {
  observations: readonly (StoredObservation & { knownAt: Date })[]
  approvals: readonly { approval: ObservationGroup['approvals'][number]; knownAt: Date }[]
  known: readonly { deposit: ObservationGroup['known'][number]; knownAt: Date }[]
  booked: readonly { journal: ObservationGroup['booked'][number]; knownAt: Date }[]
}

/**
 * The deposits as they would have been decided at that time from what was known then. What is one group by now may
 * have been several: keys that join them may have come later.
 */
export function believedAt(group: DatedGroup, rules: Rules, at: Date): DecidedDeposit[] {
  const isKnown = ({ knownAt }: { knownAt: Date }) => knownAt <= at
  const observations = group.observations.filter(isKnown).map(({ observation }) => observation)
  const approvals = group.approvals.filter(isKnown).map(({ approval }) => approval)
  const known = group.known.filter(isKnown).map(({ deposit }) => deposit)
  const booked = group.booked.filter(isKnown).map(({ journal }) => journal)
  return components(observations, linkKeys).flatMap((some) => {
    const names = new Set<string | null>(some.map(nameOf))
    const ours = {
      known: known.filter(({ serviceId, transfer }) => names.has(serviceId ?? transfer)),
      booked: booked.filter(({ transfer }) => names.has(transfer)),
    }
    return decide({ observations: some, approvals, ...ours }, rules, at).deposits
  })
}

/** By what a deposit is known that the observation speaks of. */
function nameOf(observation: Observation): string | null {
  if (observation.kind === 'claim') return observation.serviceId
  return observation.kind === 'sighting' ? transferRef(observation) : null
}

/** Whether a deposit as it was known earlier is by now that one. */
export function becameOf(earlier: DecidedDeposit, now: DecidedDeposit): boolean {
  const { serviceId, deposit } = earlier.dossier
  const isNamed = serviceId !== null && serviceId === now.dossier.serviceId
  const isPaid = serviceId === null && deposit !== null && deposit.ref === now.dossier.deposit?.ref
  return isNamed || isPaid
}

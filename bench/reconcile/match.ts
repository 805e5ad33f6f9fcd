import { linkKeys, type Observation, type ServiceId } from '../../src/core/evidence.ts'
import { components } from '../../src/core/matching/components.ts'
import { divide } from '../../src/core/matching/divide.ts'
import type { ClaimsAndTransfers, Match } from './claims-and-transfers.ts'

/** Matches as applying does, with all evidence at hand: keys, components, and the division of each. */
export function match({ claims, chainTransfers }: ClaimsAndTransfers): Map<ServiceId, Match> {
  const observations: Observation[] = [...claims, ...chainTransfers]
  const found = new Map<ServiceId, Match>()
  for (const group of components(observations, linkKeys)) {
    for (const { serviceId, deposit, api } of divide(group, []).evidences) {
      if (serviceId === null || deposit === null) continue
      found.set(serviceId, { transfer: deposit.ref, agrees: api?.deposit.amount === deposit.amount })
    }
  }
  return found
}

/** Of what was found, the share that is right; and of what is right, the share that was found. */
export type Score = { right: number; found: number; wanted: number; precision: number; recall: number }

export function scoreOf(found: ReadonlyMap<ServiceId, Match>, truth: ReadonlyMap<ServiceId, Match>): Score {
  let right = 0
  for (const [serviceId, { transfer, agrees }] of found) {
    const wanted = truth.get(serviceId)
    if (wanted?.transfer === transfer && wanted.agrees === agrees) right++
  }
  return {
    right,
    found: found.size,
    wanted: truth.size,
    precision: right / found.size,
    recall: right / truth.size,
  }
}

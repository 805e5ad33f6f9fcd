import { decide, type GroupVerdict, type ObservationGroup, type Rules } from '../../src/core/decide.ts'
import type { LegSearch, ServiceId } from '../../src/core/evidence.ts'
import type { LegSearchRequest } from '../../src/core/judging/overdue.ts'
import { at } from './evidence.ts'

/** That the chain was read all along for the address, and does not show the leg. */
export function fruitless(
  wanted: Omit<LegSearchRequest, 'notBefore' | 'until'>,
  changes: Partial<LegSearch>,
): LegSearch {
  const { role, network, address, tx, from } = wanted
  const receivedAt = changes.receivedAt ?? at(600)
  return {
    kind: 'search',
    serviceId: 'dep_1' as ServiceId,
    role,
    network,
    to: address,
    tx,
    nodes: [],
    found: null,
    claimed: { height: 1n },
    read: { from: { height: 1n, blockAt: from }, to: { height: 9000n, blockAt: receivedAt } },
    bookedAt: from,
    receivedAt,
    ...changes,
  }
}

/** Decides, and decides again once all that is to be searched for, and was not yet, was searched for in vain. */
export function decideSearched(group: ObservationGroup, rules: Rules, now: Date): GroupVerdict {
  const first = decide(group, rules, now)
  const searches = first.deposits.flatMap(({ evidence: { serviceId, searches: done }, verdict }) =>
    serviceId === null || done.length > 0
      ? []
      : verdict.searches.map((one) => fruitless(one, { serviceId, receivedAt: now })),
  )
  if (searches.length === 0) return first
  return decide({ ...group, observations: [...group.observations, ...searches] }, rules, now)
}

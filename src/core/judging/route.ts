import { serviceOf } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import { claimOf } from '../matching/fold.ts'
import type { DepositRoute, Policy, RoutePattern, RoutePolicy } from '../policy.ts'
import { approvedDestination } from './legs.ts'

/** From the chain and the address book, or else from the service. */
export function routeOf(evidence: DepositEvidence): DepositRoute {
  const { paid, place, delivered } = legsOf(evidence)
  const id = evidence.serviceId ?? evidence.approval?.owner.id
  return {
    service: id === undefined ? undefined : serviceOf(id),
    owner: (evidence.approval ?? claimOf(evidence))?.owner,
    networkIn: paid?.network,
    networkOut: place?.network,
    assetIn: paid?.asset,
    assetOut: delivered?.asset,
  }
}

function legsOf(evidence: DepositEvidence) {
  const claim = claimOf(evidence)
  const stated = claim?.settlement
  return {
    paid: evidence.deposit ?? claim?.deposit,
    place: approvedDestination(evidence) ?? stated,
    delivered: evidence.settlements[0] ?? stated,
  }
}

type RoutePolicies = { policy: Policy; routes: readonly RoutePolicy[] }

export function policyOf(evidence: DepositEvidence, policies: RoutePolicies): Policy {
  return policyOfRoute(routeOf(evidence), policies)
}

export function policyOfRoute(route: DepositRoute, { policy, routes }: RoutePolicies): Policy {
  return routes.find(({ pattern }) => matchesRoute(pattern, route))?.policy ?? policy
}

export function matchesRoute(pattern: RoutePattern, { owner, ...legs }: DepositRoute): boolean {
  const route: RoutePattern = { ...legs, ownerKind: owner?.kind, ownerId: owner?.id }
  return Object.entries(pattern).every(
    ([name, value]) => value === undefined || value === route[name as keyof RoutePattern],
  )
}

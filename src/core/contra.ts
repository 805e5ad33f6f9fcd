import { fits, routeOf } from './judging/route.ts'
import type { DepositEvidence } from './matching/divide.ts'
import type { RoutePattern } from './policy.ts'
import { type AccountId, accounts } from './posting.ts'

/**
 * The account for the other side of matching deposits. `{kind}` and `{id}` in the account stand for those of the owner.
 */
export type ContraRule = { pattern: RoutePattern; account: string }

/**
 * The account of the first rule that matches; without one, the liability to the owner. Null while the owner is unknown.
 */
export function contraOf(evidence: DepositEvidence, rules: readonly ContraRule[] = []): AccountId | null {
  const owner = evidence.approval?.owner
  if (owner === undefined) return null
  const route = routeOf(evidence)
  const found = rules.find(({ pattern }) => fits(pattern, route))
  if (found === undefined) return accounts.deposits(owner)
  return found.account.replaceAll(/\{(kind|id)\}/g, (_all, name: 'kind' | 'id') => owner[name]) as AccountId
}

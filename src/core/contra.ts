import { fits, routeOf } from './judging/route.ts'
import type { DepositEvidence } from './matching/divide.ts'
import type { RoutePattern } from './policy.ts'
import { type AccountId, accounts } from './posting.ts'

/** Where the other side of these deposits stands. `{kind}` and `{id}` in the account are those of the owner. */
export type ContraRule = { pattern: RoutePattern; account: string }

/** Of the first rule that fits; where none does, what is owed to the owner. Null while nobody is known to own it. */
export function contraOf(dossier: DepositEvidence, rules: readonly ContraRule[] = []): AccountId | null {
  const owner = dossier.approval?.owner
  if (owner === undefined) return null
  const route = routeOf(dossier)
  const found = rules.find(({ pattern }) => fits(pattern, route))
  if (found === undefined) return accounts.deposits(owner)
  return found.account.replaceAll(/\{(kind|id)\}/g, (_all, name: 'kind' | 'id') => owner[name]) as AccountId
}

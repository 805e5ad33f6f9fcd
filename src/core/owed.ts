import { type AccountId, accounts } from './chart.ts'
import type { Owner } from './evidence.ts'
import { isOutsideValidity } from './judging/legs.ts'
import { matchesRoute, routeOf } from './judging/route.ts'
import type { DepositEvidence } from './matching/divide.ts'
import type { DepositRoute, RoutePattern } from './policy.ts'

/**
 * What a delivery does to the amount owed for the payment. `moves`: it is owed in the asset delivered. `ends`: so, and
 * what the recipient received is no longer owed. `stays`: it stays in the asset paid.
 */
export const deliveryEffects = ['moves', 'ends', 'stays'] as const
export type DeliveryEffect = (typeof deliveryEffects)[number]

/** `us`: an expense. `customer`: it reduces what is owed. */
export const feeBearers = ['us', 'customer'] as const
export type FeeBearer = (typeof feeBearers)[number]

/** `{kind}` and `{id}` in the account stand for those of the owner. */
export type ContraRule = {
  pattern: RoutePattern
  account: string
  delivery?: DeliveryEffect | undefined
  fee?: FeeBearer | undefined
}

/** The account on the other side of a payment, and what becomes of it at the delivery. */
export type OwedTerms = { contra: AccountId; delivery: DeliveryEffect; fee: FeeBearer }

/** Null while the owner is unknown. */
export function owedTermsOf(evidence: DepositEvidence, rules: readonly ContraRule[] = []): OwedTerms | null {
  const owner = evidence.approval?.owner
  if (owner === undefined) return null
  return owedTermsFor(owner, routeOf(evidence), isOutsideValidity(evidence) ? [toSuspense] : rules)
}

/** Of a payment to an address that is not valid: the money is booked on its way, and owed to no owner. */
const toSuspense: ContraRule = { pattern: {}, account: accounts.suspense }

export function owedTermsFor(
  owner: Owner,
  route: DepositRoute,
  rules: readonly ContraRule[] = [],
): OwedTerms {
  const rule = rules.find(({ pattern }) => matchesRoute(pattern, route))
  const contra = rule === undefined ? accounts.deposits(owner) : contraFor(rule, owner)
  const delivery = rule?.delivery ?? (contra.startsWith('liabilities:') ? 'moves' : 'stays')
  return { contra, delivery, fee: rule?.fee ?? usualBearer(delivery, owner) }
}

export function contraFor({ account }: ContraRule, owner: Owner): AccountId {
  return account.replaceAll(/\{(kind|id)\}/g, (_all, name: 'kind' | 'id') => owner[name]) as AccountId
}

/** Who has the delivery has it less the fee. */
function usualBearer(delivery: DeliveryEffect, { kind }: Owner): FeeBearer {
  const isTheirs = delivery === 'ends' || (delivery === 'moves' && kind === 'stable_wallet')
  return isTheirs ? 'customer' : 'us'
}

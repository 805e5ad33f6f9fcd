import type { TransferRef } from '../evidence.ts'
import type { DecisionLookup } from './decisions.ts'
import { type ChainLeg, type ClaimHistory, claimOf } from './fold.ts'
import type { Payments } from './match-payments.ts'

/**
 * Candidates are transfers to recipients that deliver nothing and that the service at any time named as the return of
 * the payment. They add up to no more than was paid, because one transaction may pay others too. The first history that
 * names a transfer has it.
 */
export function matchRefunds(
  { claimHistories, byHistory }: { claimHistories: readonly ClaimHistory[] } & Pick<Payments, 'byHistory'>,
  legs: readonly ChainLeg[],
  decisions: DecisionLookup,
): ReadonlyMap<ClaimHistory, readonly ChainLeg[]> {
  const of = new Map<ClaimHistory, readonly ChainLeg[]>()
  const taken = new Set<TransferRef>()
  const inTurn = legs.toSorted(nearestFirst)
  for (const claimHistory of claimHistories) {
    const named = inTurn.filter(
      (leg) =>
        !taken.has(leg.ref) && isRefund(leg, claimHistory) && !decisions.isApart(claimHistory.serviceId, leg),
    )
    const back = new Set(upTo(paidIn(claimHistory, byHistory), named))
    for (const { ref } of back) taken.add(ref)
    of.set(
      claimHistory,
      legs.filter((leg) => back.has(leg)),
    )
  }
  return of
}

function isRefund(leg: ChainLeg, { claims }: ClaimHistory): boolean {
  return [...claims.api, ...claims.webhook].some(
    ({ deposit, refund }) =>
      refund?.tx === leg.tx && deposit.network === leg.network && deposit.asset === leg.asset,
  )
}

/** As the chain shows it; as stated if no payment is found or it is in another asset. */
function paidIn(claimHistory: ClaimHistory, payments: Payments['byHistory']): (leg: ChainLeg) => bigint {
  const paid = payments.get(claimHistory)?.leg
  const stated = claimOf(claimHistory)?.deposit.amount ?? 0n
  return ({ asset }) => (paid?.asset === asset ? paid.amount : stated)
}

/** Takes each transfer that still fits. */
function upTo(limitOf: (leg: ChainLeg) => bigint, legs: readonly ChainLeg[]): ChainLeg[] {
  let sum = 0n
  return legs.filter((leg) => {
    const isFit = sum + leg.amount <= limitOf(leg)
    if (isFit) sum += leg.amount
    return isFit
  })
}

/** Largest first: of those that fit, it is nearest to the paid amount. Orphaned transfers come last. */
function nearestFirst(left: ChainLeg, right: ChainLeg): number {
  const [isGone, isOtherGone] = [left.state === 'orphaned', right.state === 'orphaned']
  if (isGone !== isOtherGone) return isGone ? 1 : -1
  if (left.amount === right.amount) return 0
  return left.amount > right.amount ? -1 : 1
}

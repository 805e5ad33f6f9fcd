import type { ClaimStatus, SettlementClaim } from '../evidence.ts'
import type { DepositEvidence } from '../matching/divide.ts'
import { isTolerated, type Policy } from '../policy.ts'
import { deliveredLegs, total } from './matrix.ts'

/** The delivery as the service states it, once it calls the deposit settled. The API's statement takes precedence. */
export function finishedDelivery({ api, webhook }: Pick<DepositEvidence, 'api' | 'webhook'>) {
  return [api, webhook].find((one) => one?.status === 'settled')?.settlement ?? null
}

/**
 * The delivery as the API states it. If its furthest claim states no amount, for example when it goes on to call the
 * deposit refunded, the amount stated last is compared with the chain. A fee stated without an amount still applies.
 */
export function statedByApi({ api, words }: Pick<DepositEvidence, 'api' | 'words'>): SettlementClaim | null {
  const reported = [api, ...words.api.toReversed()]
  const said = reported.flatMap((word) => word?.settlement ?? [])
  const [furthest] = said
  if (furthest === undefined || furthest.amount !== null) return furthest ?? null
  const stated = said.find(({ amount }) => amount !== null) ?? furthest
  return { ...stated, fee: stated.fee ?? said.find(({ fee }) => fee !== null)?.fee ?? null }
}

/** After these statuses the service delivers nothing more. */
const last: ReadonlySet<ClaimStatus> = new Set(['settled', 'refunded', 'failed'])

/**
 * The amount by which a delivery is short of the API's statement, once the API reports its end; negative if it is more.
 * In base units of the delivered asset; 0 if the policy does not accept the difference. Nothing is booked from a
 * webhook's statement.
 */
export function toleratedLack(evidence: DepositEvidence, policy: Policy): bigint {
  const legs = deliveredLegs(evidence)
  const { amount, asset } = statedByApi(evidence) ?? {}
  const isOver = evidence.api !== null && last.has(evidence.api.status)
  if (!isOver || !amount || legs.length === 0 || legs.some((leg) => leg.asset !== asset)) return 0n
  return isTolerated(total(legs), amount, policy) ? amount - total(legs) : 0n
}

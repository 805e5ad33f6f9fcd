import {
  type DepositIdentity,
  decide,
  type GroupVerdict,
  type ObservationGroup,
  type Rules,
} from '../core/decide.ts'
import { explainAll } from '../core/explaining/explain.ts'
import type { StoredObservation } from '../core/explaining/verdict-reason.ts'
import type { Approval } from '../core/matching/divide.ts'
import type { Journal } from '../core/posting.ts'
import { type BundleParts, plain } from './bundle.ts'

type DecisionReport = Omit<BundleParts['verdict'], 'at'>

/** The same decision always gives the same presentation. */
export function reportDecision(
  { deposits, unmatchedDeliveries, withdrawals, withdrawalJournals }: GroupVerdict,
  stored: readonly StoredObservation[],
  rules: Rules,
): DecisionReport {
  const reported = explainAll(deposits, stored, rules).map(({ evidence, verdict, ...decided }) => ({
    ...verdict,
    id: decided.id,
    absorbed: decided.absorbed,
    serviceId: evidence.serviceId,
    payment: decided.payment,
    delivery: decided.delivery,
    links: evidence.links,
    unseen: decided.unseen,
    /** Not booked or not reversed yet. */
    toBook: decided.journals,
    reasons: decided.reasons,
  }))
  return plain({
    deposits: reported,
    unmatchedDeliveries: unmatchedDeliveries.map(({ leg, mismatch }) => ({ transfer: leg.ref, ...mismatch })),
    withdrawals: withdrawals.map(({ claim, leg, state, mismatch, unseen }) => ({
      claim,
      transfer: leg?.ref ?? null,
      state,
      mismatch,
      unseen,
    })),
    toBook: withdrawalJournals,
  }) as DecisionReport
}

export function decideAgain(parts: BundleParts, stored: readonly StoredObservation[]) {
  const rules = rulesOf(parts)
  const decision = decide(groupOf(parts, stored), rules, new Date(parts.verdict.at))
  return reportDecision(decision, stored, rules)
}

function groupOf(parts: BundleParts, stored: readonly StoredObservation[]): ObservationGroup {
  return {
    observations: stored.map(({ observation }) => observation),
    approvals: revived(parts.addressBook) as Approval[],
    deposits: (revived(parts.known) as (Omit<DepositIdentity, 'id'> & { number: string })[]).map(
      ({ number, ...known }) => ({ ...known, id: BigInt(number) }),
    ),
    journals: revived(parts.journals) as Journal[],
    openedAt: parts.openedAt === null ? null : new Date(parts.openedAt),
  }
}

function rulesOf({ policy: { senders, ...policies } }: BundleParts): Rules {
  return { ...(revived(policies) as Omit<Rules, 'senders'>), senders: new Set(senders) }
}

/** Amounts and heights, which are decimal text in a document. */
const integerNames: ReadonlySet<string> = new Set([
  'amount',
  'depositId',
  'sent',
  'fee',
  'height',
  'minimum',
  'paid',
  'delivered',
])

/** An altered document gives another decision, or fails. */
function revived(part: unknown): unknown {
  return JSON.parse(JSON.stringify(part), (name, value: unknown) => {
    if (typeof value !== 'string') return value
    if (integerNames.has(name) && /^-?\d+$/.test(value)) return BigInt(value)
    return name.endsWith('At') ? new Date(value) : value
  })
}

import type { GroupVerdict } from '../decide.ts'
import type { ServiceId, TransferRef } from '../evidence.ts'
import type { DepositState } from '../judging/reconcile.ts'
import type { MismatchKind } from '../mismatch.ts'
import type { Journal } from '../posting.ts'

/** Of a deposit, or of an unmatched delivery, which has no state. */
export type VerdictSummary = {
  state: DepositState | null
  mismatches: readonly MismatchKind[]
  /** Still to be booked. */
  journals: readonly Journal[]
}

export type VerdictChange = {
  /** Null for a delivery, or if the store does not have the deposit yet. */
  id: bigint | null
  serviceId: ServiceId | null
  transfer: TransferRef | null
  before: VerdictSummary
  after: VerdictSummary
}

const nothing: VerdictSummary = { state: null, mismatches: [], journals: [] }

export function compareDecisions(earlier: GroupVerdict, later: GroupVerdict): VerdictChange[] {
  const [before, after] = [new Map(summariesOf(earlier)), new Map(summariesOf(later))]
  return [...new Map([...before, ...after])].flatMap(([key, { id, serviceId, transfer }]) => {
    const change = {
      id,
      serviceId,
      transfer,
      before: before.get(key)?.summary ?? nothing,
      after: after.get(key)?.summary ?? nothing,
    }
    return textOf(change.before) === textOf(change.after) ? [] : [change]
  })
}

type SubjectSummary = Omit<VerdictChange, 'before' | 'after'> & { summary: VerdictSummary }

function summariesOf({ deposits, unmatchedDeliveries }: GroupVerdict): [string, SubjectSummary][] {
  return [
    ...deposits.map(({ id, evidence, verdict, journals }): [string, SubjectSummary] => {
      const { serviceId, deposit } = evidence
      const mismatches = verdict.mismatches.map(({ kind }) => kind).toSorted()
      const summary = { state: verdict.state, mismatches, journals }
      const key = serviceId === null ? `payment ${deposit?.ref}` : `service ${serviceId}`
      return [key, { id, serviceId, transfer: deposit?.ref ?? null, summary }]
    }),
    ...unmatchedDeliveries.map(({ leg: { ref }, mismatch: { kind } }): [string, SubjectSummary] => {
      const summary = { ...nothing, mismatches: [kind] }
      return [`delivery ${ref}`, { id: null, serviceId: null, transfer: ref, summary }]
    }),
  ]
}

function textOf(summary: VerdictSummary): string {
  return JSON.stringify(summary, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

import type { DecidedDeposit, GroupVerdict } from '../decide.ts'
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

type Subject = Omit<VerdictChange, 'before' | 'after'> & { outcome: VerdictSummary }

const nothing: VerdictSummary = { state: null, mismatches: [], journals: [] }

export function compareDecisions(before: GroupVerdict, after: GroupVerdict): VerdictChange[] {
  const subjects = new Map(subjectsOf(before))
  const others = new Map(subjectsOf(after))
  return [...new Map([...subjects, ...others])].flatMap(([key, { id, serviceId, transfer }]) => {
    const change = {
      id,
      serviceId,
      transfer,
      before: subjects.get(key)?.outcome ?? nothing,
      after: others.get(key)?.outcome ?? nothing,
    }
    return textOf(change.before) === textOf(change.after) ? [] : [change]
  })
}

function subjectsOf({ deposits, unmatchedDeliveries }: GroupVerdict): [string, Subject][] {
  return [
    ...deposits.map(subjectOf),
    ...unmatchedDeliveries.map(({ leg: { ref }, mismatch: { kind } }): [string, Subject] => {
      const outcome = { ...nothing, mismatches: [kind] }
      return [`delivery ${ref}`, { id: null, serviceId: null, transfer: ref, outcome }]
    }),
  ]
}

function subjectOf({ id, evidence, verdict, journals }: DecidedDeposit): [string, Subject] {
  const { serviceId, deposit } = evidence
  const mismatches = verdict.mismatches.map(({ kind }) => kind).toSorted()
  const outcome = { state: verdict.state, mismatches, journals }
  return [
    serviceId === null ? `payment ${deposit?.ref}` : `service ${serviceId}`,
    { id, serviceId, transfer: deposit?.ref ?? null, outcome },
  ]
}

function textOf(outcome: VerdictSummary): string {
  return JSON.stringify(outcome, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

import type { DecidedDeposit, GroupVerdict } from '../decide.ts'
import type { ServiceId, TransferRef } from '../evidence.ts'
import type { DepositState } from '../judging/reconcile.ts'
import type { MismatchKind } from '../mismatch.ts'
import type { Journal } from '../posting.ts'

/** What a decision comes to for one deposit, or for one delivery that no deposit explains, which has no state. */
export type VerdictSummary = {
  state: DepositState | null
  mismatches: readonly MismatchKind[]
  /** Still to be booked. */
  journals: readonly Journal[]
}

export type VerdictChange = {
  /** Null where the store has no deposit of it yet, or it is a delivery. */
  id: bigint | null
  serviceId: ServiceId | null
  transfer: TransferRef | null
  before: VerdictSummary
  after: VerdictSummary
}

type Subject = Omit<VerdictChange, 'before' | 'after'> & { outcome: VerdictSummary }

const nothing: VerdictSummary = { state: null, mismatches: [], journals: [] }

/** Where two decisions of one group, under different rules, come to something else. */
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

function subjectsOf({ deposits, strays }: GroupVerdict): [string, Subject][] {
  return [
    ...deposits.map(subjectOf),
    ...strays.map(({ leg: { ref }, mismatch: { kind } }): [string, Subject] => {
      const outcome = { ...nothing, mismatches: [kind] }
      return [`delivery ${ref}`, { id: null, serviceId: null, transfer: ref, outcome }]
    }),
  ]
}

function subjectOf({ id, dossier, verdict, journals }: DecidedDeposit): [string, Subject] {
  const { serviceId, deposit } = dossier
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

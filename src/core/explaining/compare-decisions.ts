import type { GroupVerdict } from '../decide.ts'
import type { ServiceId, TransferRef } from '../evidence.ts'
import type { DepositState } from '../judging/reconcile.ts'
import type { MismatchKind } from '../mismatch.ts'
import type { Journal } from '../posting.ts'
import type { WithdrawalState } from '../withdrawals.ts'

/** Of a deposit, a withdrawal, or an unmatched delivery, which has no state. */
export type VerdictSummary = {
  state: DepositState | WithdrawalState | null
  mismatches: readonly MismatchKind[]
  /** Still to be booked. */
  journals: readonly Journal[]
}

export type VerdictChange = {
  /** Null for a delivery or a withdrawal, or if the store does not have the deposit yet. */
  id: bigint | null
  serviceId: ServiceId | null
  /** `WALLET ID` of a withdrawal. */
  withdrawal: string | null
  transfer: TransferRef | null
  before: VerdictSummary
  after: VerdictSummary
}

const nothing: VerdictSummary = { state: null, mismatches: [], journals: [] }

export function compareDecisions(earlier: GroupVerdict, later: GroupVerdict): VerdictChange[] {
  const [before, after] = [new Map(summariesOf(earlier)), new Map(summariesOf(later))]
  return [...new Map([...before, ...after])].flatMap(([key, { id, serviceId, withdrawal, transfer }]) => {
    const change = {
      id,
      serviceId,
      withdrawal,
      transfer,
      before: before.get(key)?.summary ?? nothing,
      after: after.get(key)?.summary ?? nothing,
    }
    return textOf(change.before) === textOf(change.after) ? [] : [change]
  })
}

type SubjectSummary = Omit<VerdictChange, 'before' | 'after'> & { summary: VerdictSummary }

const nobody = { id: null, serviceId: null, withdrawal: null, transfer: null }

function summariesOf({
  deposits,
  unmatchedDeliveries,
  ...paidOut
}: GroupVerdict): [string, SubjectSummary][] {
  return [
    ...withdrawalSummaries(paidOut),
    ...deposits.map(({ id, evidence, verdict, journals }): [string, SubjectSummary] => {
      const { serviceId, deposit } = evidence
      const mismatches = verdict.mismatches.map(({ kind }) => kind).toSorted()
      const summary = { state: verdict.state, mismatches, journals }
      const key = serviceId === null ? `payment ${deposit?.ref}` : `service ${serviceId}`
      return [key, { ...nobody, id, serviceId, transfer: deposit?.ref ?? null, summary }]
    }),
    ...unmatchedDeliveries.map(({ leg: { ref }, mismatch: { kind } }): [string, SubjectSummary] => {
      const summary = { ...nothing, mismatches: [kind] }
      return [`delivery ${ref}`, { ...nobody, transfer: ref, summary }]
    }),
  ]
}

/** A journal is of the withdrawal that has its transfer; one that is reversed may be of none any more. */
function withdrawalSummaries({
  withdrawals,
  withdrawalJournals,
}: Pick<GroupVerdict, 'withdrawals' | 'withdrawalJournals'>): [string, SubjectSummary][] {
  const journalsOf = Map.groupBy(withdrawalJournals, ({ transfer }) => transfer)
  const listed = withdrawals.map(({ claim, leg, state, mismatch }): [string, SubjectSummary] => {
    const transfer = leg?.ref ?? null
    const journals = (transfer && journalsOf.get(transfer)) ?? []
    if (transfer !== null) journalsOf.delete(transfer)
    const mismatches = mismatch === null ? [] : [mismatch.kind]
    const withdrawal = `${claim.wallet} ${claim.withdrawalId}`
    const summary = { state, mismatches, journals }
    return [`withdrawal ${withdrawal}`, { ...nobody, withdrawal, transfer, summary }]
  })
  const rest = [...journalsOf].map(([transfer, journals]): [string, SubjectSummary] => [
    `withdrawn ${transfer}`,
    { ...nobody, transfer, summary: { ...nothing, journals } },
  ])
  return [...listed, ...rest]
}

function textOf(summary: VerdictSummary): string {
  return JSON.stringify(summary, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

import type { DecidedDeposit } from '../../core/decide.ts'
import { type Observation, transferRef } from '../../core/evidence.ts'
import type { NumberedDeposit } from '../../store/books/deposits.ts'

/** Goes to logs and traces, and is not stored. */
export type DecisionTrail = {
  depositId: bigint
  state: DecidedDeposit['verdict']['state']
  journals: readonly string[]
  rows: readonly bigint[]
  webhooks: readonly bigint[]
}

/** In milliseconds since 1970. */
export type StepTimes = { begunAt: number; loadedAt: number; decidedAt: number; bookedAt: number }

/** The newest; earlier log lines have the others. */
const rowsMax = 32

type TrailEvidence = { inboxId: bigint; groupId: bigint; observation: Observation }
type TrailDeposit = Pick<NumberedDeposit, 'id' | 'groupId'> & {
  verdict: Pick<NumberedDeposit['verdict'], 'state'>
  journals: readonly Pick<NumberedDeposit['journals'][number], 'key'>[]
  evidence: Pick<NumberedDeposit['evidence'], 'serviceId' | 'links'>
}
type TrailGroup = { id: bigint; webhooks: readonly { inboxId: bigint; serviceId: string }[] }

export function trailsOf(
  deposits: readonly TrailDeposit[],
  saved: readonly TrailEvidence[],
  groups: readonly TrailGroup[],
): DecisionTrail[] {
  const savedOf = Map.groupBy(saved, ({ groupId }) => groupId)
  const webhooksOf = Map.groupBy(
    groups.flatMap(({ webhooks }) => webhooks),
    ({ serviceId }) => serviceId,
  )
  const subjects = new Set(deposits.flatMap(subjectsOf))
  return deposits.map((deposit) => {
    const { id, groupId, verdict, journals, evidence } = deposit
    return {
      depositId: id,
      state: verdict.state,
      journals: journals.map(({ key }) => key),
      rows: newest(ledTo(deposit, savedOf.get(groupId) ?? [], subjects)),
      webhooks: newest(evidence.serviceId === null ? [] : webhooksOf.get(evidence.serviceId)),
    }
  })
}

/**
 * Leaves out rows that concern only other deposits, unless no row remains: deposits that share a transfer depend on
 * each other's evidence.
 */
function ledTo(
  deposit: TrailDeposit,
  rows: readonly TrailEvidence[],
  subjects: ReadonlySet<string>,
): readonly TrailEvidence[] {
  const own = new Set(subjectsOf(deposit))
  const about = rows.filter(({ observation }) => {
    const subject = subjectOf(observation)
    return subject === null || own.has(subject) || !subjects.has(subject)
  })
  return about.length === 0 && deposit.journals.length > 0 ? rows : about
}

function subjectsOf({ evidence: { serviceId, links } }: TrailDeposit): string[] {
  const transfers = links.map(({ role, transfer }) => `${role} ${transfer}`)
  return serviceId === null ? transfers : [...transfers, `claim ${serviceId}`]
}

/** Null if the observation may affect any deposit. */
function subjectOf(observation: Observation): string | null {
  if (observation.kind === 'claim') return `claim ${observation.serviceId}`
  if (observation.kind === 'chain_transfer') return `${observation.role} ${transferRef(observation)}`
  return null
}

function newest(rows: readonly { inboxId: bigint }[] = []): bigint[] {
  return rows.slice(-rowsMax).map(({ inboxId }) => inboxId)
}

/** Monotonic, for spans. No decision depends on it. */
export function clock(): number {
  return performance.timeOrigin + performance.now()
}

import type { DecidedDeposit } from '../../core/decide.ts'
import { type Observation, transferRef } from '../../core/evidence.ts'
import type { NumberedDeposit } from '../../store/books/deposits.ts'

/** What came of one deposit that was decided, and what led to it: told in logs and traces, and kept nowhere. */
export type DecisionTrail = {
  depositId: bigint
  state: DecidedDeposit['verdict']['state']
  /** Posting keys of what was booked. */
  journals: readonly string[]
  /** Rows of the inbox that led to it just now. */
  rows: readonly bigint[]
  /** Rows of all webhooks that told of it. */
  webhooks: readonly bigint[]
}

/** When the steps of one transaction were done, in milliseconds since 1970. */
export type StepTimes = { begunAt: number; loadedAt: number; decidedAt: number; bookedAt: number }

/** Of an old deposit the newest rows; the others, lines from before tell. */
const rowsMax = 32

type TrailEvidence = { inboxId: bigint; groupId: bigint; observation: Observation }
type TrailDeposit = Pick<NumberedDeposit, 'id' | 'groupId'> & {
  verdict: Pick<NumberedDeposit['verdict'], 'state'>
  journals: readonly Pick<NumberedDeposit['journals'][number], 'key'>[]
  dossier: Pick<NumberedDeposit['dossier'], 'serviceId' | 'links'>
}
type TrailGroup = { id: bigint; webhooks: readonly { inboxId: bigint; serviceId: string }[] }

/** @param kept evidence that was kept just now */
export function trailsOf(
  deposits: readonly TrailDeposit[],
  kept: readonly TrailEvidence[],
  groups: readonly TrailGroup[],
): DecisionTrail[] {
  const keptOf = Map.groupBy(kept, ({ groupId }) => groupId)
  const webhooksOf = Map.groupBy(
    groups.flatMap(({ webhooks }) => webhooks),
    ({ serviceId }) => serviceId,
  )
  const known = new Set(deposits.flatMap(subjectsOf))
  return deposits.map((deposit) => {
    const { id, groupId, verdict, journals, dossier } = deposit
    return {
      depositId: id,
      state: verdict.state,
      journals: journals.map(({ key }) => key),
      rows: newest(ledTo(deposit, keptOf.get(groupId) ?? [], known)),
      webhooks: newest(dossier.serviceId === null ? [] : webhooksOf.get(dossier.serviceId)),
    }
  })
}

/**
 * Of the rows of its group those that are not about another deposit alone; all of them where it was booked although none
 * is about it, since deposits that share a transfer are decided by what is known of each.
 */
function ledTo(
  deposit: TrailDeposit,
  rows: readonly TrailEvidence[],
  known: ReadonlySet<string>,
): readonly TrailEvidence[] {
  const own = new Set(subjectsOf(deposit))
  const about = rows.filter(({ observation }) => {
    const subject = subjectOf(observation)
    return subject === null || own.has(subject) || !known.has(subject)
  })
  return about.length === 0 && deposit.journals.length > 0 ? rows : about
}

/** What evidence of it is about. */
function subjectsOf({ dossier: { serviceId, links } }: TrailDeposit): string[] {
  const transfers = links.map(({ role, transfer }) => `${role} ${transfer}`)
  return serviceId === null ? transfers : [...transfers, `claim ${serviceId}`]
}

/** Null where it may bear on any deposit. */
function subjectOf(observation: Observation): string | null {
  if (observation.kind === 'claim') return `claim ${observation.serviceId}`
  if (observation.kind === 'sighting') return `${observation.role} ${transferRef(observation)}`
  return null
}

function newest(rows: readonly { inboxId: bigint }[] = []): bigint[] {
  return rows.slice(-rowsMax).map(({ inboxId }) => inboxId)
}

/** The clock of spans, which must not run backwards; nothing is decided by it. */
export function clock(): number {
  return performance.timeOrigin + performance.now()
}

import type { DecidedDeposit } from '../../core/decide.ts'
import type { NumberedDeposit } from '../../store/books/deposits.ts'

/** What came of one deposit that was decided, and what led to it: told in logs and traces, and kept nowhere. */
export type Trail = {
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

type Linked = { inboxId: bigint; groupId: bigint }
type Loaded = { id: bigint; webhooks: readonly { inboxId: bigint; serviceId: string }[] }

/** @param kept evidence that was kept just now */
export function trailsOf(
  deposits: readonly NumberedDeposit[],
  kept: readonly Linked[],
  groups: readonly Loaded[],
): Trail[] {
  const keptOf = Map.groupBy(kept, ({ groupId }) => groupId)
  const webhooksOf = Map.groupBy(
    groups.flatMap(({ webhooks }) => webhooks),
    ({ serviceId }) => serviceId,
  )
  return deposits.map(({ id, groupId, verdict, journals, dossier }) => ({
    depositId: id,
    state: verdict.state,
    journals: journals.map(({ key }) => key),
    rows: newest(keptOf.get(groupId)),
    webhooks: newest(dossier.serviceId === null ? [] : webhooksOf.get(dossier.serviceId)),
  }))
}

function newest(rows: readonly { inboxId: bigint }[] = []): bigint[] {
  return rows.slice(-rowsMax).map(({ inboxId }) => inboxId)
}

/** The clock of spans, which must not run backwards; nothing is decided by it. */
export function clock(): number {
  return performance.timeOrigin + performance.now()
}

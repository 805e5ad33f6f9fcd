import type { Logger } from 'pino'
import { limitLines } from '../log/limit-lines.ts'
import { logEvent } from '../log/log-event.ts'

export type AppliedTrail = {
  rows: number
  groups: number
  journals: number
  taken: readonly { id: bigint; source: string }[]
  trails: readonly {
    depositId: bigint
    state: string
    journals: readonly string[]
    rows: readonly bigint[]
    webhooks: readonly bigint[]
  }[]
  /** In milliseconds since 1970. */
  times: Readonly<Record<'begunAt' | 'loadedAt' | 'decidedAt' | 'bookedAt', number>>
}

/** Journals are always logged, the other lines at debug level. */
export function reportApplied(log: Logger, { rows, groups, journals, taken, trails }: AppliedTrail): void {
  const isDetailed = log.isLevelEnabled('debug')
  if (isDetailed) {
    if (rows + journals > 0) logEvent(log, 'batch_applied', { rows, groups, journals })
    for (const { id, source } of taken) logEvent(log, 'row_applied', { inbox: rowName(id), source })
  }
  for (const trail of trails) {
    const { state } = trail
    const about = {
      deposit: trail.depositId.toString(),
      inbox: trail.rows.map(rowName),
      webhooks: trail.webhooks.map(rowName),
    }
    if (isDetailed) logEvent(log, 'deposit_decided', { ...about, state })
    if (trail.journals.length > 0) logEvent(log, 'journals_posted', { ...about, journals: trail.journals })
  }
}

type WebhookStoreOutcomes = { outcomes: readonly string[]; inboxIds: readonly (bigint | null)[] }

export function reportStored(
  log: Logger,
  rows: readonly { sourceKey: string }[],
  { outcomes, inboxIds }: WebhookStoreOutcomes,
): void {
  if (!log.isLevelEnabled('debug')) return
  for (const [place, { sourceKey }] of rows.entries()) {
    const id = inboxIds[place] ?? null
    logEvent(log, 'webhook_stored', {
      inbox: id === null ? null : rowName(id),
      webhook: sourceKey,
      outcome: outcomes[place],
    })
  }
}

/**
 * Once per failed commit, and at most a few times a second.
 * @param now milliseconds
 */
export function reportNotStored(log: Logger, now = Date.now): (error: unknown) => void {
  const limit = limitLines(now)
  let last: unknown
  return (error) => {
    if (error === last) return
    last = error
    const suppressed = limit()
    if (suppressed !== null) logEvent(log, 'webhook_not_stored', { suppressed, err: error })
  }
}

/** Followed by a quotation mark, it is not a prefix of another row's name. */
export function rowName(id: bigint): string {
  return `inbox/${id}`
}

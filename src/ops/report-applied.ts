import type { Logger } from 'pino'
import { logEvent } from '../log/log-event.ts'
import { rowName } from './report-webhooks.ts'

/** The results of one transaction that are logged and traced. */
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
  /** When the steps of the transaction were done, in milliseconds since 1970. */
  times: Readonly<Record<'begunAt' | 'loadedAt' | 'decidedAt' | 'bookedAt', number>>
}

/**
 * Logs the lines that connect a webhook to its journals. Journals are always logged, the other lines at debug level.
 */
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

import type { Logger } from 'pino'
import { limitLines } from '../log/limit-lines.ts'
import { logEvent } from '../log/log-event.ts'

type WebhookStoreOutcomes = { outcomes: readonly string[]; inboxIds: readonly (bigint | null)[] }

/** Logs committed webhooks, each with its inbox row, which all later lines name. */
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
 * Logs why webhooks could not be stored: once per failed commit, and at most a few times a second.
 * @param now milliseconds
 */
export function reportNotStored(log: Logger, now = Date.now): (error: unknown) => void {
  const mayReport = limitLines(
    (suppressed) => logEvent(log, 'store_failures_suppressed', { suppressed }),
    now,
  )
  let last: unknown
  return (error) => {
    if (error === last) return
    last = error
    if (mayReport()) logEvent(log, 'webhook_not_stored', { err: error })
  }
}

/** The name of an inbox row in all output. Followed by a quotation mark, it is not a prefix of another row's name. */
export function rowName(id: bigint): string {
  return `inbox/${id}`
}

import type { Logger } from 'pino'
import { limitLines } from '../log/limit-lines.ts'
import { tell } from '../log/tell.ts'

type WebhookStoreOutcomes = { outcomes: readonly string[]; inboxIds: readonly (bigint | null)[] }

/** Tells of webhooks that were committed, each with the row that everything after names. */
export function tellStored(
  log: Logger,
  rows: readonly { sourceKey: string }[],
  { outcomes, inboxIds }: WebhookStoreOutcomes,
): void {
  if (!log.isLevelEnabled('debug')) return
  for (const [place, { sourceKey }] of rows.entries()) {
    const id = inboxIds[place] ?? null
    tell(log, 'webhook_stored', {
      inbox: id === null ? null : rowName(id),
      webhook: sourceKey,
      outcome: outcomes[place],
    })
  }
}

/**
 * Tells why webhooks could not be stored: of all that one commit failed for once, and a few times a second at the most.
 * @param now milliseconds
 */
export function tellNotStored(log: Logger, now = Date.now): (error: unknown) => void {
  const mayTell = limitLines((untold) => tell(log, 'webhooks_not_stored_more', { untold }), now)
  let last: unknown
  return (error) => {
    if (error === last) return
    last = error
    if (mayTell()) tell(log, 'webhook_not_stored', { err: error })
  }
}

/** How a row of the inbox is called everywhere: with the quotation mark behind it, no other row's name begins so. */
export function rowName(id: bigint): string {
  return `inbox/${id}`
}

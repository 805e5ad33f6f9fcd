import type { Logger } from 'pino'
import { tell } from '../log/tell.ts'

type Stored = { outcomes: readonly string[]; inboxIds: readonly (bigint | null)[] }

/** Tells of webhooks that were committed, each with the row that everything after names. */
export function tellStored(
  log: Logger,
  rows: readonly { sourceKey: string }[],
  { outcomes, inboxIds }: Stored,
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

/** How a row of the inbox is called everywhere: with the quotation mark behind it, no other row's name begins so. */
export function rowName(id: bigint): string {
  return `inbox/${id}`
}

import { sql, type Transaction } from 'kysely'
import { type UnreadableKind, unreadableKinds } from '../core/mismatch.ts'
import type { PendingRow } from './inbox.ts'
import {
  endMismatches,
  type HeldMismatch,
  isNoneOf,
  type MismatchChange,
  openMismatches,
} from './mismatches.ts'
import type { Tables } from './tables.ts'

/** Which of the payloads that are kept and not applied. */
export type KeptFilter = {
  /** Those under one of these kinds; or all, also what the profile passed over. */
  kinds: readonly UnreadableKind[] | 'all'
  /** Received then or later; null for ever. */
  since: Date | null
}

/** Takes the next ones behind an inbox row, in order, and holds what is open about them until the transaction ends. */
export async function takeKept(
  tx: Transaction<Tables>,
  { kinds, since }: KeptFilter,
  { after, rowsMax }: { after: bigint; rowsMax: number },
): Promise<PendingRow[]> {
  const columns = sql`inbox.id, source, body, headers, received_at as "receivedAt", stored_at as "storedAt"`
  const next = sql`inbox.id > ${after} and received_at >= ${since ?? '-infinity'}::timestamptz`
  const query =
    kinds === 'all'
      ? sql<PendingRow>`
          select ${columns} from inbox
          where ${next} and source in ('webhook', 'api')
            and not exists (select from evidence where inbox_id = inbox.id)
            and not exists (select from inbox_pending where inbox_id = inbox.id)
          order by inbox.id limit ${rowsMax}`
      : sql<PendingRow>`
          select ${columns} from mismatch join inbox on inbox.id = substring(subject from '^inbox/(\\d+)$')::bigint
          where ${next} and kind = any(${kinds}::text[]) and cleared_at is null
          order by inbox.id limit ${rowsMax} for update of mismatch`
  const { rows } = await query.execute(tx)
  return rows
}

/** Makes what is held about these payloads exactly the given mismatches. */
export async function syncUnreadable(
  tx: Transaction<Tables>,
  inboxIds: readonly bigint[],
  held: readonly HeldMismatch[],
): Promise<MismatchChange[]> {
  const about = sql`subject = any(${inboxIds.map((id) => `inbox/${id}`)}::text[]) and kind = any(${unreadableKinds}::text[])`
  const cleared = await endMismatches(tx, sql`${about} and ${isNoneOf(held)}`)
  return [...cleared, ...(await openMismatches(tx, held))]
}

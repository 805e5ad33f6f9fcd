import { sql, type Transaction } from 'kysely'
import { type UnreadableKind, unreadableKinds } from '../../core/mismatch.ts'
import { type BatchLimits, type PendingRow, readWithin } from '../inbox.ts'
import type { Tables } from '../tables.ts'
import {
  endMismatches,
  type HeldMismatch,
  isNoneOf,
  type MismatchChange,
  openMismatches,
} from './mismatches.ts'

/** Selects payloads that are stored and not applied. */
export type UnappliedPayloadFilter = {
  /** Those with uncleared mismatches of these kinds; or all, including those that the profile skipped. */
  kinds: readonly UnreadableKind[] | 'all'
  /** Received at or after this; null for no limit. */
  since: Date | null
}

/**
 * Takes the next payloads after an inbox row, in order, and locks their uncleared mismatches until the transaction
 * ends.
 */
export async function takeKept(
  tx: Transaction<Tables>,
  { kinds, since }: UnappliedPayloadFilter,
  { after, rowsMax, bytesMax }: BatchLimits & { after: bigint },
): Promise<PendingRow[]> {
  const next = sql`inbox.id > ${after} and received_at >= ${since ?? '-infinity'}::timestamptz`
  const ids =
    kinds === 'all'
      ? sql`
          select id from inbox
          where ${next} and source in ('webhook', 'api')
            and not exists (select from evidence where inbox_id = inbox.id)
            and not exists (select from inbox_pending where inbox_id = inbox.id)
          order by id limit ${rowsMax}`
      : sql`
          select inbox.id from mismatch join inbox on inbox.id = substring(subject from '^inbox/(\\d+)$')::bigint
          where ${next} and kind = any(${kinds}::text[]) and cleared_at is null
          order by inbox.id limit ${rowsMax} for update of mismatch`
  return readWithin(tx, ids, bytesMax)
}

/** Makes the open mismatches about these payloads match the given ones. */
export async function syncUnreadable(
  tx: Transaction<Tables>,
  inboxIds: readonly bigint[],
  held: readonly HeldMismatch[],
): Promise<MismatchChange[]> {
  const about = sql`subject = any(${inboxIds.map((id) => `inbox/${id}`)}::text[]) and kind = any(${unreadableKinds}::text[])`
  const cleared = await endMismatches(tx, sql`${about} and ${isNoneOf(held)}`)
  return [...cleared, ...(await openMismatches(tx, held))]
}

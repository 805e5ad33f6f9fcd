import { sql, type Transaction } from 'kysely'
import type { Severity } from '../core/mismatch.ts'
import type { Tables } from './tables.ts'

/** A mismatch that holds now. */
export type HeldMismatch = {
  subject: string
  kind: string
  severity: Severity
  depositId: bigint | null
  groupId: bigint | null
  network: string | null
  asset: string | null
  value: bigint | null
  detail: Readonly<Record<string, string>>
}

export type MismatchChange = {
  kind: string
  severity: Severity
  network: string | null
  change: 'opened' | 'cleared'
}

/** Makes the open mismatches of these groups exactly the given ones, and tells what opened and what cleared. */
export async function syncMismatches(
  tx: Transaction<Tables>,
  groupIds: readonly bigint[],
  held: readonly HeldMismatch[],
): Promise<MismatchChange[]> {
  const { rows: cleared } = await sql<Omit<MismatchChange, 'change'>>`
    update mismatch set cleared_at = now(), cleared_how = 'evidence'
    where group_id = any(${groupIds}::bigint[]) and cleared_at is null and (subject, kind) not in (
      select * from unnest(${held.map(({ subject }) => subject)}::text[], ${held.map(({ kind }) => kind)}::text[])
    )
    returning kind, severity, network`.execute(tx)
  const opened = await openMismatches(tx, held)
  return [...cleared.map((one) => ({ ...one, change: 'cleared' as const })), ...opened]
}

/** Ends mismatches that belong to no group, since what they tell of is no longer so. */
export async function clearMismatches(
  tx: Transaction<Tables>,
  kind: string,
  subjects: readonly string[],
): Promise<MismatchChange[]> {
  if (subjects.length === 0) return []
  const { rows } = await sql<Omit<MismatchChange, 'change'>>`
    update mismatch set cleared_at = now(), cleared_how = 'evidence'
    where kind = ${kind} and subject = any(${subjects}::text[]) and cleared_at is null
    returning kind, severity, network`.execute(tx)
  return rows.map((one) => ({ ...one, change: 'cleared' as const }))
}

/** Opens what is not open yet; what is open keeps its age and takes the newer detail. */
export async function openMismatches(
  tx: Transaction<Tables>,
  held: readonly HeldMismatch[],
): Promise<MismatchChange[]> {
  if (held.length === 0) return []
  const { rows } = await sql<Omit<MismatchChange, 'change'> & { is_new: boolean }>`
    insert into mismatch (subject, kind, severity, deposit_id, group_id, network, asset, value, detail, opened_at)
    select subject, kind, severity, deposit_id, group_id, network, asset, value, detail, now()
    from jsonb_populate_recordset(null::mismatch, ${JSON.stringify(held.map(rowOf))}::jsonb)
    on conflict (subject, kind) where cleared_at is null do update
      set detail = excluded.detail, value = excluded.value
      where (mismatch.detail, mismatch.value) is distinct from (excluded.detail, excluded.value)
    returning kind, severity, network, xmax = 0 as is_new`.execute(tx)
  return rows.flatMap(({ is_new, ...row }) => (is_new ? [{ ...row, change: 'opened' as const }] : []))
}

function rowOf({ depositId, groupId, value, ...rest }: HeldMismatch) {
  return {
    ...rest,
    deposit_id: depositId?.toString(),
    group_id: groupId?.toString(),
    value: value?.toString(),
  }
}

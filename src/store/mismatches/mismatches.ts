import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { defaultService } from '../../core/evidence.ts'
import type { Loss, Severity } from '../../core/mismatch.ts'
import type { Tables } from '../tables.ts'

/** A mismatch that the current evidence shows. */
export type HeldMismatch = {
  subject: string
  kind: string
  severity: Severity
  depositId: bigint | null
  groupId: bigint | null
  network: string | null
  /** Amount and asset of the deposit, chain transfer or balance concerned; null if there is none. */
  asset: string | null
  value: bigint | null
  loss: Loss | null
  detail: Readonly<Record<string, string>>
}

export type MismatchChange = {
  kind: string
  severity: Severity
  network: string | null
  /**
   * `reopened` by new evidence or by a person; `resolved` by a person; `cleared` by evidence before a person resolved
   * it.
   */
  change: 'opened' | 'reopened' | 'resolved' | 'cleared'
}

/**
 * Makes the mismatches of these groups match the given ones.
 * @returns the mismatches that opened or ended
 */
export async function syncMismatches(
  tx: Transaction<Tables>,
  groupIds: readonly bigint[],
  held: readonly HeldMismatch[],
): Promise<MismatchChange[]> {
  const cleared = await endMismatches(tx, sql`group_id = any(${groupIds}::bigint[]) and ${isNoneOf(held)}`)
  return [...cleared, ...(await openMismatches(tx, held))]
}

/** Clears mismatches that belong to no group and whose cause is gone. */
export async function clearMismatches(
  tx: Transaction<Tables>,
  kind: string,
  subjects: readonly string[],
): Promise<MismatchChange[]> {
  if (subjects.length === 0) return []
  return endMismatches(tx, sql`kind = ${kind} and subject = any(${subjects}::text[])`)
}

/** Clears the mismatches that match a condition. Does not report those that a person had resolved. */
export async function endMismatches(
  db: Kysely<Tables>,
  fits: RawBuilder<unknown>,
): Promise<MismatchChange[]> {
  const { rows } = await sql<Omit<MismatchChange, 'change'> & { was_open: boolean }>`
    update mismatch set cleared_at = now(), cleared_how = 'evidence' where cleared_at is null and ${fits}
    returning kind, severity, network, resolved_at is null as was_open`.execute(db)
  return rows.flatMap(({ was_open, ...row }) => (was_open ? [{ ...row, change: 'cleared' as const }] : []))
}

/** A condition that excludes these mismatches. */
export function isNoneOf(held: readonly HeldMismatch[]): RawBuilder<unknown> {
  return sql`(subject, kind) not in (
    select * from unnest(${held.map(({ subject }) => subject)}::text[], ${held.map(({ kind }) => kind)}::text[])
  )`
}

/**
 * Opens mismatches that are not open yet. An existing one keeps its age and takes the newer detail. If the detail
 * differs, a resolved or snoozed mismatch is open again.
 */
export async function openMismatches(
  tx: Transaction<Tables>,
  held: readonly HeldMismatch[],
): Promise<MismatchChange[]> {
  if (held.length === 0) return []
  const { rows } = await sql<MismatchChange>`
    with held as (
      insert into mismatch (subject, kind, service, severity, deposit_id, group_id, network, asset, value, detail, opened_at,
        loss_asset, loss_amount, loss_whole)
      select subject, kind, ${defaultService}, severity, deposit_id, group_id, network, asset, value, detail, now(),
        loss_asset, loss_amount, loss_whole
      from jsonb_populate_recordset(null::mismatch, ${JSON.stringify(held.map(rowOf))}::jsonb)
      on conflict (subject, kind, service) where cleared_at is null do update
        set detail = excluded.detail, network = excluded.network, asset = excluded.asset, value = excluded.value,
          loss_asset = excluded.loss_asset, loss_amount = excluded.loss_amount, loss_whole = excluded.loss_whole,
          resolved_at = null, resolved_by = null, resolved_reason = null, snoozed_until = null
        where (mismatch.detail, mismatch.network, mismatch.asset, mismatch.value, mismatch.loss_asset,
            mismatch.loss_amount, mismatch.loss_whole)
          is distinct from (excluded.detail, excluded.network, excluded.asset, excluded.value, excluded.loss_asset,
            excluded.loss_amount, excluded.loss_whole)
      returning new.id, new.kind, new.severity, new.network, old.id is null as is_new,
        coalesce(old.resolved_at is not null or old.snoozed_until > now(), false) as was_put_off,
        old.resolved_at is not null as was_resolved,
        ${standing('old')} as before, ${standing('new')} as after
    ), reopened as (
      insert into mismatch_event (mismatch_id, actor, action, text, before, after)
      select id, 'depositd', 'reopened', 'new evidence', before, after from held where was_put_off
    )
    select kind, severity, network, case when is_new then 'opened' else 'reopened' end as change
    from held where is_new or was_resolved`.execute(tx)
  return rows
}

/** A mismatch in its history: its detail, the amount concerned, and its loss. */
function standing(row: 'old' | 'new'): RawBuilder<unknown> {
  const of = (column: string) => sql.ref(`${row}.${column}`)
  return sql`jsonb_build_object('detail', ${of('detail')}, 'value', ${of('value')}::text, 'loss',
    ${of('loss_amount')}::text, 'loss_asset', ${of('loss_asset')})`
}

function rowOf({ depositId, groupId, value, loss, ...rest }: HeldMismatch) {
  return {
    ...rest,
    deposit_id: depositId?.toString(),
    group_id: groupId?.toString(),
    value: value?.toString(),
    loss_asset: loss?.asset,
    loss_amount: loss?.amount.toString(),
    loss_whole: loss?.whole.toString(),
  }
}

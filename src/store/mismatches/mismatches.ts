import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { type Contradiction, ownerKey } from '../../core/address-book.ts'
import type { NetworkName } from '../../core/asset.ts'
import { defaultService, type Owner } from '../../core/evidence.ts'
import {
  type Loss,
  type MismatchKind,
  mismatchKinds,
  type Severity,
  unreadableKinds,
} from '../../core/mismatch.ts'
import { inTransaction } from '../database.ts'
import type { Tables } from '../tables.ts'

export type HeldMismatch = {
  subject: string
  kind: string
  severity: Severity
  depositId: bigint | null
  groupId: bigint | null
  network: string | null
  asset: string | null
  value: bigint | null
  loss: Loss | null
  detail: Readonly<Record<string, string>>
}

export type MismatchChange = {
  kind: string
  severity: Severity
  network: string | null
  /** `reopened` by new evidence or a person; `resolved` by a person; `cleared` by evidence before that. */
  change: 'opened' | 'reopened' | 'resolved' | 'cleared'
}

/** @returns the mismatches that opened or ended */
export async function syncMismatches(
  tx: Transaction<Tables>,
  groupIds: readonly bigint[],
  held: readonly HeldMismatch[],
): Promise<MismatchChange[]> {
  const cleared = await endMismatches(tx, sql`group_id = any(${groupIds}::bigint[]) and ${isNoneOf(held)}`)
  return [...cleared, ...(await openMismatches(tx, held))]
}

/** For mismatches without a group, whose cause is gone. */
export async function clearMismatches(
  tx: Transaction<Tables>,
  kind: string,
  subjects: readonly string[],
): Promise<MismatchChange[]> {
  if (subjects.length === 0) return []
  return endMismatches(tx, sql`kind = ${kind} and subject = any(${subjects}::text[])`)
}

/** Does not report those that a person had resolved. */
export async function endMismatches(
  db: Kysely<Tables>,
  fits: RawBuilder<unknown>,
): Promise<MismatchChange[]> {
  const { rows } = await sql<Omit<MismatchChange, 'change'> & { was_open: boolean }>`
    update mismatch set cleared_at = now(), cleared_how = 'evidence' where cleared_at is null and ${fits}
    returning kind, severity, network, resolved_at is null as was_open`.execute(db)
  return rows.flatMap(({ was_open, ...row }) => (was_open ? [{ ...row, change: 'cleared' as const }] : []))
}

export function isNoneOf(held: readonly HeldMismatch[]): RawBuilder<unknown> {
  return sql`(subject, kind) not in (
    select * from unnest(${held.map(({ subject }) => subject)}::text[], ${held.map(({ kind }) => kind)}::text[])
  )`
}

/**
 * An existing mismatch keeps its age and takes the newer detail. If the detail differs, a resolved or snoozed one is
 * open again.
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

export type NetworkTrouble = {
  network: NetworkName
  kind: MismatchKind
  detail: Readonly<Record<string, string>>
}

export function openTrouble(
  tx: Transaction<Tables>,
  { network, kind, detail }: NetworkTrouble,
): Promise<MismatchChange[]> {
  const { severity } = mismatchKinds[kind]
  const none = { depositId: null, groupId: null, asset: null, value: null, loss: null }
  return openMismatches(tx, [{ subject: networkSubject(network), kind, severity, network, detail, ...none }])
}

export function clearTroubles(
  db: Kysely<Tables>,
  network: NetworkName,
  kinds: readonly MismatchKind[],
): Promise<MismatchChange[]> {
  return endMismatches(db, sql`subject = ${networkSubject(network)} and kind = any(${kinds}::text[])`)
}

function networkSubject(network: NetworkName): string {
  return `network/${network}`
}

const addressChanged = 'address_changed'

/** The service states other addresses than approved. */
export function changedAddresses(
  owners: readonly { owner: Owner; contradictions: readonly Contradiction[] }[],
): HeldMismatch[] {
  return owners.flatMap(({ owner, contradictions }): HeldMismatch[] => {
    const [first] = contradictions
    if (first === undefined) return []
    return [
      {
        subject: ownerSubject(owner),
        kind: addressChanged,
        severity: mismatchKinds[addressChanged].severity,
        depositId: null,
        groupId: null,
        // From the address book: it is a label of metrics, and the service may state any text.
        network: first.approved.split(' ')[0] ?? null,
        asset: null,
        value: null,
        loss: null,
        detail: {
          owner: ownerKey(owner),
          approved: contradictions.map(({ what, approved }) => `${what} ${approved}`).join(', '),
          stated: contradictions.map(({ what, stated }) => `${what} ${stated}`).join(', '),
        },
      },
    ]
  })
}

export function openAddressChanged(
  db: Kysely<Tables>,
  held: readonly HeldMismatch[],
): Promise<MismatchChange[]> {
  return inTransaction(db, (tx) => openMismatches(tx, held))
}

export function syncAddressChanged(
  db: Kysely<Tables>,
  owners: readonly Owner[],
  held: readonly HeldMismatch[],
): Promise<MismatchChange[]> {
  return inTransaction(db, async (tx) => {
    const about = sql`kind = ${addressChanged} and subject = any(${owners.map(ownerSubject)}::text[])`
    const cleared = await endMismatches(tx, sql`${about} and ${isNoneOf(held)}`)
    return [...cleared, ...(await openMismatches(tx, held))]
  })
}

function ownerSubject(owner: Owner): string {
  return `owner/${ownerKey(owner)}`
}

export async function syncUnreadable(
  tx: Transaction<Tables>,
  inboxIds: readonly bigint[],
  held: readonly HeldMismatch[],
): Promise<MismatchChange[]> {
  const about = sql`subject = any(${inboxIds.map((id) => `inbox/${id}`)}::text[]) and kind = any(${unreadableKinds}::text[])`
  const cleared = await endMismatches(tx, sql`${about} and ${isNoneOf(held)}`)
  return [...cleared, ...(await openMismatches(tx, held))]
}

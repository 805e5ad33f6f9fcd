import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { type Contradiction, ownerKey } from '../../core/address-book.ts'
import type { NetworkName } from '../../core/asset.ts'
import { type Owner, type ServiceName, serviceOf } from '../../core/evidence.ts'
import {
  type Loss,
  type MismatchKind,
  mismatchKinds,
  type Severity,
  unreadableKinds,
} from '../../core/mismatch.ts'
import { asTable, inTransaction } from '../database.ts'
import type { Tables } from '../tables.ts'

/** A field left out is null. */
export type HeldMismatch = {
  subject: string
  kind: MismatchKind
  service?: ServiceName
  depositId?: bigint | null
  groupId?: bigint | null
  network?: string | null
  asset?: string | null
  value?: bigint | null
  loss?: Loss | null
  detail: Readonly<Record<string, string>>
}

export type MismatchChange = {
  kind: string
  severity: Severity
  /** Null for what is of no service. */
  service: ServiceName | null
  network: string | null
  /** `reopened` by new evidence or a person; `resolved` by a person; `cleared` by evidence before that. */
  change: 'opened' | 'reopened' | 'resolved' | 'cleared'
}

/**
 * @param about the mismatches that end unless they are held
 * @returns the mismatches that opened or ended
 */
export async function syncMismatches(
  tx: Transaction<Tables>,
  about: RawBuilder<unknown>,
  held: readonly HeldMismatch[],
): Promise<MismatchChange[]> {
  const standing = sql`select subject, kind from ${asTable('held', held, 'subject text, kind text')}`
  const cleared = await endMismatches(tx, sql`${about} and (subject, kind) not in (${standing})`)
  return [...cleared, ...(await openMismatches(tx, held))]
}

export function syncGroupMismatches(
  tx: Transaction<Tables>,
  groupIds: readonly bigint[],
  held: readonly HeldMismatch[],
): Promise<MismatchChange[]> {
  return syncMismatches(tx, sql`group_id = any(${groupIds}::bigint[])`, held)
}

/** For mismatches without a group, whose cause is gone. */
export async function clearMismatches(
  tx: Transaction<Tables>,
  kind: MismatchKind,
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
    with ended as (
      update mismatch set cleared_at = now(), cleared_how = 'evidence' where cleared_at is null and ${fits}
      returning *
    ), recorded as (
      insert into event_pending (type, deposit_id, service, data)
      select 'mismatch.cleared', deposit_id, service, ${mismatchData} from ended order by id
    )
    select kind, severity, service, network, resolved_at is null as was_open from ended`.execute(db)
  return rows.flatMap(({ was_open, ...row }) => (was_open ? [{ ...row, change: 'cleared' as const }] : []))
}

/**
 * An existing mismatch keeps its age and takes the newer detail. If the detail differs, a resolved or snoozed one is
 * open again, unless it is snoozed until a larger loss.
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
      select subject, kind, service, severity, deposit_id, group_id, network, asset, value, detail, now(),
        loss_asset, loss_amount, loss_whole
      from jsonb_populate_recordset(null::mismatch, ${JSON.stringify(held.map(rowOf))}::jsonb)
      on conflict (subject, kind) where cleared_at is null do update
        set detail = excluded.detail, network = excluded.network, asset = excluded.asset, value = excluded.value,
          loss_asset = excluded.loss_asset, loss_amount = excluded.loss_amount, loss_whole = excluded.loss_whole,
          resolved_at = null, resolved_by = null, resolved_reason = null, snoozed_until = null,
          snooze_ends_with = case when mismatch.snooze_ends_with = 'a larger loss' and
            excluded.loss_asset = mismatch.loss_asset and excluded.loss_amount <= mismatch.loss_amount
            then mismatch.snooze_ends_with end
        where (mismatch.detail, mismatch.network, mismatch.asset, mismatch.value, mismatch.loss_asset,
            mismatch.loss_amount, mismatch.loss_whole)
          is distinct from (excluded.detail, excluded.network, excluded.asset, excluded.value, excluded.loss_asset,
            excluded.loss_amount, excluded.loss_whole)
      returning new.*, old.id is null as is_new,
        coalesce(old.resolved_at is not null or old.snoozed_until > now()
          or old.snooze_ends_with is distinct from new.snooze_ends_with, false) as was_put_off,
        old.resolved_at is not null as was_resolved,
        ${stakesOf('old')} as before, ${stakesOf('new')} as after
    ), reopened as (
      insert into mismatch_event (mismatch_id, actor, action, text, before, after)
      select id, 'depositd', 'reopened', 'new evidence', before, after from held where was_put_off
    ), recorded as (
      insert into event_pending (type, deposit_id, service, data)
      select case when is_new then 'mismatch.opened' else 'mismatch.changed' end, deposit_id, service, ${mismatchData}
      from held order by id
    )
    select kind, severity, service, network, case when is_new then 'opened' else 'reopened' end as change
    from held where is_new or was_resolved`.execute(tx)
  return rows
}

/** Of an event about the mismatch in these columns. */
export const mismatchData = sql`jsonb_strip_nulls(jsonb_build_object('mismatch', id::text, 'kind', kind, 'severity', severity,
  'subject', subject, 'network', network, 'loss_asset', loss_asset, 'loss', loss_amount::text, 'detail', detail))`

function stakesOf(row: 'old' | 'new'): RawBuilder<unknown> {
  const of = (column: string) => sql.ref(`${row}.${column}`)
  return sql`jsonb_build_object('detail', ${of('detail')}, 'value', ${of('value')}::text, 'loss',
    ${of('loss_amount')}::text, 'loss_asset', ${of('loss_asset')})`
}

function rowOf({ depositId, groupId, value, loss, ...rest }: HeldMismatch) {
  return {
    ...rest,
    severity: mismatchKinds[rest.kind].severity,
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
  return openMismatches(tx, [{ subject: networkSubject(network), kind, network, detail }])
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

/** For those of the owners whose addresses the service states otherwise than approved. */
export function syncAddressChanged(
  db: Kysely<Tables>,
  owners: readonly { owner: Owner; contradictions: readonly Contradiction[] }[],
): Promise<MismatchChange[]> {
  const subjects = owners.map(({ owner }) => ownerSubject(owner))
  const about = sql`kind = 'address_changed' and subject = any(${subjects}::text[])`
  return inTransaction(db, (tx) => syncMismatches(tx, about, owners.flatMap(changedAddresses)))
}

function changedAddresses({
  owner,
  contradictions,
}: {
  owner: Owner
  contradictions: readonly Contradiction[]
}): HeldMismatch[] {
  const [first] = contradictions
  if (first === undefined) return []
  return [
    {
      subject: ownerSubject(owner),
      kind: 'address_changed',
      service: serviceOf(owner.id),
      // From the address book: it is a label of metrics, and the service may state any text.
      network: first.approved.split(' ')[0] ?? null,
      detail: {
        owner: ownerKey(owner),
        approved: contradictions.map(({ what, approved }) => `${what} ${approved}`).join(', '),
        stated: contradictions.map(({ what, stated }) => `${what} ${stated}`).join(', '),
      },
    },
  ]
}

function ownerSubject(owner: Owner): string {
  return `owner/${ownerKey(owner)}`
}

export function syncUnreadable(
  tx: Transaction<Tables>,
  inboxIds: readonly bigint[],
  held: readonly HeldMismatch[],
): Promise<MismatchChange[]> {
  const subjects = inboxIds.map((id) => `inbox/${id}`)
  const about = sql`subject = any(${subjects}::text[]) and kind = any(${unreadableKinds}::text[])`
  return syncMismatches(tx, about, held)
}

import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { assert, Fault } from '../../core/errors.ts'
import { mayBeLost } from '../../core/mismatch.ts'
import type { Stake } from '../../core/second-person.ts'
import type { Tables } from '../tables.ts'
import { mismatchData } from './mismatches.ts'

/** What ends a snooze without a time. */
export type SnoozeEnd = 'new evidence' | 'a larger loss'

/** None of these changes evidence or books. */
export type CaseAction =
  /** Null removes the assignment. */
  | { action: 'assigned'; to: string | null }
  /** `mentions`: people of the register. */
  | { action: 'commented'; text: string; mentions?: readonly string[] }
  | { action: 'snoozed'; until: Date | SnoozeEnd | null }
  | { action: 'resolved'; text: string }
  | { action: 'reopened'; text: string }

/** Left out if it was not decided; `decision` is null without signatures. */
type DecidedCases = { approvedBy?: string | null; decision?: bigint | null }

export type MismatchCase = {
  id: bigint
  subject: string
  kind: string
  severity: string
  detail: Record<string, string>
  value: string | null
  loss: string | null
  lossAsset: string | null
  depositId: bigint | null
  assignedTo: string | null
  snooze: SnoozeColumns
  resolvedAt: Date | null
  clearedAt: Date | null
}

/** `before` and `after` are the changed values, as JSON. */
export type CaseEvent = {
  mismatchId: bigint
  actor: string
  action:
    | CaseAction['action']
    | 'comment_withdrawn'
    | 'attached'
    | 'written_off'
    | 'write_off_withdrawn'
    | 'matched'
    | 'split'
  text: string | null
  approvedBy: string | null
  decision: bigint | null
  before: object | null
  after: object | null
  /** The event that this one takes back. */
  undoes?: bigint
  mentions?: readonly string[]
}

/**
 * Applies the action to all of these mismatches or to none.
 * @returns the number of the first event
 * @throws Fault `usage_bad` with the mismatches that refuse the action, and why
 */
export async function workOnCases(
  tx: Transaction<Tables>,
  ids: readonly bigint[],
  { actor, approvedBy = null, decision, ...act }: CaseAction & DecidedCases & { actor: string },
): Promise<bigint> {
  const cases = await lockCasesFor(tx, ids, act.action)
  if (act.action === 'resolved' && decision === undefined) refuseLosses(cases)
  const assignments = assignmentsOf(act, actor)
  if (assignments !== null)
    await sql`update mismatch set ${assignments} where id = any(${ids}::bigint[])`.execute(tx)
  const text = 'text' in act ? act.text : null
  const mentions = act.action === 'commented' ? (act.mentions ?? []) : []
  return appendEvents(
    tx,
    cases.map((one) => ({
      mismatchId: one.id,
      actor,
      action: act.action,
      text,
      mentions,
      approvedBy,
      decision: decision ?? null,
      ...changeOf(act, one),
    })),
  )
}

/** @throws Fault `usage_bad` with the mismatches that refuse the action, and why; `not_found` as `lockCases` */
export async function lockCasesFor(
  tx: Transaction<Tables>,
  ids: readonly bigint[],
  action: CaseAction['action'],
): Promise<MismatchCase[]> {
  const cases = await lockCases(tx, ids)
  refuse(cases, action)
  return cases
}

/**
 * In order of their ids; locked until the transaction ends.
 * @throws Fault `not_found` with the ids that do not exist
 */
export async function lockCases(tx: Transaction<Tables>, ids: readonly bigint[]): Promise<MismatchCase[]> {
  const { rows } = await sql<MismatchCase>`
    select id, subject, kind, severity, detail, value::text as value, loss_amount::text as loss,
      loss_asset as "lossAsset", deposit_id as "depositId", assigned_to as "assignedTo",
      jsonb_build_object('snoozed_until', snoozed_until, 'snooze_ends_with', snooze_ends_with) as snooze, resolved_at as "resolvedAt", cleared_at as "clearedAt"
    from mismatch where id = any(${ids}::bigint[]) order by id for update`.execute(tx)
  const unknown = ids.filter((id) => rows.every((row) => row.id !== id))
  if (unknown.length === 0) return rows
  throw new Fault('not_found', {
    problem: `mismatch ${unknown.join(', ')} does not exist`,
    fix: 'use a number from "bin/depositd mismatches list --all"; nothing was changed',
  })
}

/**
 * Resolutions and reopenings are also events.
 * @returns the number of the first event
 */
export async function appendEvents(tx: Transaction<Tables>, events: readonly CaseEvent[]): Promise<bigint> {
  const stored = events.map(({ mismatchId, approvedBy, decision, undoes, mentions = [], ...rest }) => ({
    ...rest,
    decision_id: decision?.toString(),
    mismatch_id: mismatchId.toString(),
    approved_by: approvedBy,
    undoes: undoes?.toString(),
    ...(mentions.length > 0 && { mentions: mentions.map((name) => name.toLowerCase()) }),
  }))
  const { rows } = await sql<{ first: bigint }>`
    with added as (
      insert into mismatch_event (mismatch_id, actor, action, text, approved_by, decision_id, before, after, undoes,
        mentions)
      select mismatch_id, actor, action, text, approved_by, decision_id, before, after, undoes, mentions
      from jsonb_to_recordset(${JSON.stringify(stored)}::jsonb) as row (
        mismatch_id bigint, actor text, action text, text text, approved_by text, decision_id bigint, before jsonb, after jsonb,
        undoes bigint, mentions text[]
      )
      returning id, mismatch_id, action, actor
    ), recorded as (
      insert into event_pending (type, deposit_id, service, data)
      select case decided.action when 'resolved' then 'mismatch.resolved' else 'mismatch.changed' end, deposit_id, service,
        ${mismatchData} || jsonb_build_object('decided', decided.action, 'by', decided.actor)
      from mismatch join (
        select id as event_id, mismatch_id, action, actor from added where action in ('resolved', 'reopened')
      ) as decided on mismatch.id = decided.mismatch_id order by decided.event_id
    )
    select min(id) as first from added`.execute(tx)
  return rows[0]?.first ?? 0n
}

export async function readCaseEvent(
  tx: Transaction<Tables>,
  id: bigint,
): Promise<Pick<CaseEvent, 'actor' | 'text'> & { at: Date }> {
  const { rows } = await sql<Pick<CaseEvent, 'actor' | 'text'> & { at: Date }>`
    select at, actor, text from mismatch_event where id = ${id}`.execute(tx)
  const [row] = rows
  assert(row !== undefined, 'an appended event is stored')
  return row
}

function refuse(cases: readonly MismatchCase[], action: CaseAction['action']): void {
  const problems = cases.flatMap((one) => {
    const reason = refusal(one, action)
    return reason === null ? [] : [`mismatch ${one.id} ${reason}`]
  })
  if (problems.length === 0) return
  const fix = 'see "bin/depositd mismatches show ID"; nothing was changed'
  throw new Fault('usage_bad', { problem: problems.join(', '), fix })
}

function refuseLosses(cases: readonly MismatchCase[]): void {
  const ids = cases.filter(mayBeLost).map(({ id }) => id)
  if (ids.length === 0) return
  throw new Fault('usage_bad', {
    problem: `mismatch ${ids.join(', ')} may be a loss, so that resolving it takes a signed decision`,
    fix: 'use "bin/depositd mismatches resolve", or the form of the mismatch; nothing was changed',
  })
}

/** Only a comment can be added to a cleared mismatch. */
function refusal({ clearedAt, resolvedAt }: MismatchCase, action: CaseAction['action']): string | null {
  if (action === 'commented') return null
  if (clearedAt !== null) return `was cleared by evidence at ${clearedAt.toISOString()}`
  if (action === 'reopened') return resolvedAt === null ? 'is open' : null
  return resolvedAt === null ? null : `was resolved at ${resolvedAt.toISOString()}`
}

/** Null if the action sets no column. */
function assignmentsOf(act: CaseAction, actor: string): RawBuilder<unknown> | null {
  if (act.action === 'assigned') return sql`assigned_to = ${act.to}`
  if (act.action === 'snoozed') {
    const { snoozed_until: until, snooze_ends_with: end } = snoozeOf(act.until)
    return sql`snoozed_until = ${until}, snooze_ends_with = ${end}`
  }
  if (act.action === 'resolved')
    return sql`resolved_at = now(), resolved_by = ${actor}, resolved_reason = ${act.text}, ${awake}`
  if (act.action === 'reopened') return reopened
  return null
}

const awake = sql`snoozed_until = null, snooze_ends_with = null`
export const reopened = sql`resolved_at = null, resolved_by = null, resolved_reason = null, ${awake}`

type SnoozeColumns = { snoozed_until: Date | string | null; snooze_ends_with: SnoozeEnd | null }

function snoozeOf(until: Date | SnoozeEnd | null): SnoozeColumns {
  return typeof until === 'string'
    ? { snoozed_until: null, snooze_ends_with: until }
    : { snoozed_until: until, snooze_ends_with: null }
}

function changeOf(act: CaseAction, found: MismatchCase): Pick<CaseEvent, 'before' | 'after'> {
  if (act.action === 'commented') return { before: null, after: null }
  if (act.action === 'assigned')
    return { before: { assigned_to: found.assignedTo }, after: { assigned_to: act.to } }
  if (act.action === 'snoozed') return { before: found.snooze, after: snoozeOf(act.until) }
  return { before: null, after: standingOf(found) }
}

export function standingOf({ detail, value, loss, lossAsset }: MismatchCase) {
  return { detail, value, loss, loss_asset: lossAsset }
}

/** Of all of them by asset; the amount of an asset is null if one cannot be measured. */
export async function lossesOf(db: Kysely<Tables>, ids: readonly bigint[]): Promise<Stake[]> {
  const { rows } = await sql<Omit<Stake, 'amount'> & { amount: string | null }>`
    select coalesce(split_part(m.loss_asset, '/', 1), '') as network, a.symbol, a.decimals, sum(m.loss_amount)::text as amount
    from mismatch m left join asset a on a.key = m.loss_asset
    where m.id = any(${ids}::bigint[]) and may_be_lost(m.loss_amount, m.severity) group by m.loss_asset, a.symbol, a.decimals`.execute(
    db,
  )
  return rows.map(({ amount, ...row }) => ({ ...row, amount: amount === null ? null : BigInt(amount) }))
}

/** Null if it is about none; undefined if there is no such mismatch. An absorbed deposit is that which absorbed it. */
export async function depositOfCase(db: Kysely<Tables>, id: bigint): Promise<bigint | null | undefined> {
  const { rows } = await sql<{ deposit: bigint | null }>`
    select coalesce(d.merged_into, d.id) as deposit from mismatch m left join deposit d on d.id = m.deposit_id
    where m.id = ${id}`.execute(db)
  return rows[0]?.deposit
}

export async function inboxIdOf(db: Kysely<Tables>, decisionId: string): Promise<bigint> {
  const { rows } = await sql<{ id: bigint }>`
    select id from inbox
    where source = 'person' and source_key = ${decisionId}`.execute(db)
  const [row] = rows
  assert(row !== undefined, 'a recorded decision is in the inbox')
  return row.id
}

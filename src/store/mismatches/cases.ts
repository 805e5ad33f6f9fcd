import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { assert, Fault } from '../../core/errors.ts'
import type { OutstandingAmount, TransferDecision } from '../../core/evidence.ts'
import type { Amount } from '../../core/money.ts'
import type { Stake } from '../../core/second-person.ts'
import { depositNumber } from '../books/show-deposits.ts'
import type { Tables } from '../tables.ts'
import type { MismatchChange } from './mismatches.ts'

/** None of these changes evidence or books. */
export type CaseAction =
  /** Null removes the assignment. */
  | { action: 'assigned'; to: string | null }
  | { action: 'commented'; text: string }
  | { action: 'snoozed'; until: Date | null }
  | { action: 'resolved'; text: string }
  | { action: 'reopened'; text: string }

export type MismatchCase = {
  id: bigint
  subject: string
  kind: string
  detail: Record<string, string>
  value: string | null
  loss: string | null
  lossAsset: string | null
  depositId: bigint | null
  assignedTo: string | null
  snoozedUntil: Date | null
  resolvedAt: Date | null
  clearedAt: Date | null
}

/** `before` and `after` are the changed values, as JSON. */
export type CaseEvent = {
  mismatchId: bigint
  actor: string
  action: CaseAction['action'] | 'written_off' | 'write_off_withdrawn' | 'matched' | 'split'
  text: string | null
  approvedBy: string | null
  before: object | null
  after: object | null
}

/**
 * Applies the action to all of these mismatches or to none.
 * @throws Fault `usage_bad` with the mismatches that refuse the action, and why
 */
export async function workOnCases(
  tx: Transaction<Tables>,
  ids: readonly bigint[],
  { actor, ...act }: CaseAction & { actor: string },
): Promise<void> {
  const cases = await lockCases(tx, ids)
  refuse(cases, act)
  const assignments = assignmentsOf(act, actor)
  if (assignments !== null)
    await sql`update mismatch set ${assignments} where id = any(${ids}::bigint[])`.execute(tx)
  const text = 'text' in act ? act.text : null
  await appendEvents(
    tx,
    cases.map((one) => ({
      mismatchId: one.id,
      actor,
      action: act.action,
      text,
      approvedBy: null,
      ...changeOf(act, one),
    })),
  )
}

/**
 * In order of their ids; locked until the transaction ends.
 * @throws Fault `not_found` with the ids that do not exist
 */
export async function lockCases(tx: Transaction<Tables>, ids: readonly bigint[]): Promise<MismatchCase[]> {
  const { rows } = await sql<MismatchCase>`
    select id, subject, kind, detail, value::text as value, loss_amount::text as loss,
      loss_asset as "lossAsset", deposit_id as "depositId", assigned_to as "assignedTo",
      snoozed_until as "snoozedUntil", resolved_at as "resolvedAt", cleared_at as "clearedAt"
    from mismatch where id = any(${ids}::bigint[]) order by id for update`.execute(tx)
  const unknown = ids.filter((id) => rows.every((row) => row.id !== id))
  if (unknown.length === 0) return rows
  throw new Fault('not_found', {
    problem: `mismatch ${unknown.join(', ')} does not exist`,
    fix: 'use a number from "bin/depositd mismatches list --all"; nothing was changed',
  })
}

/** Also queues resolutions and reopenings for a daemon. */
export async function appendEvents(tx: Transaction<Tables>, events: readonly CaseEvent[]): Promise<void> {
  const rows = events.map(({ mismatchId, approvedBy, ...rest }) => ({
    ...rest,
    mismatch_id: mismatchId.toString(),
    approved_by: approvedBy,
  }))
  await sql`
    with added as (
      insert into mismatch_event (mismatch_id, actor, action, text, approved_by, before, after)
      select mismatch_id, actor, action, text, approved_by, before, after
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as row (
        mismatch_id bigint, actor text, action text, text text, approved_by text, before jsonb, after jsonb
      )
      returning id, action
    )
    insert into mismatch_event_pending (event_id)
    select id from added where action in ('resolved', 'reopened')`.execute(tx)
}

const takenMax = 1000

/** Concurrent callers each take different ones. */
export async function takeDecisions(db: Kysely<Tables>): Promise<MismatchChange[]> {
  const { rows } = await sql<MismatchChange>`
    with taken as (
      delete from mismatch_event_pending where event_id in (
        select event_id from mismatch_event_pending order by event_id limit ${takenMax} for update skip locked
      ) returning event_id
    )
    select m.kind, m.severity, m.service, m.network, e.action as change
    from taken join mismatch_event e on e.id = taken.event_id join mismatch m on m.id = e.mismatch_id
    order by e.id`.execute(db)
  return rows
}

function refuse(cases: readonly MismatchCase[], { action }: CaseAction): void {
  const problems = cases.flatMap((one) => {
    const reason = refusal(one, action)
    return reason === null ? [] : [`mismatch ${one.id} ${reason}`]
  })
  if (problems.length === 0) return
  const fix = 'see "bin/depositd mismatches show ID"; nothing was changed'
  throw new Fault('usage_bad', { problem: problems.join(', '), fix })
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
  if (act.action === 'snoozed') return sql`snoozed_until = ${act.until}`
  if (act.action === 'resolved')
    return sql`resolved_at = now(), resolved_by = ${actor}, resolved_reason = ${act.text}, snoozed_until = null`
  if (act.action === 'reopened')
    return sql`resolved_at = null, resolved_by = null, resolved_reason = null, snoozed_until = null`
  return null
}

function changeOf(act: CaseAction, found: MismatchCase): Pick<CaseEvent, 'before' | 'after'> {
  if (act.action === 'commented') return { before: null, after: null }
  if (act.action === 'assigned')
    return { before: { assigned_to: found.assignedTo }, after: { assigned_to: act.to } }
  if (act.action === 'snoozed')
    return { before: { snoozed_until: found.snoozedUntil }, after: { snoozed_until: act.until } }
  const { detail, value, loss, lossAsset } = found
  return { before: null, after: { detail, value, loss, loss_asset: lossAsset } }
}

export type StakedTransfer = Pick<TransferDecision, 'role' | 'network' | 'tx' | 'index' | 'to'> & Stake

/** Two if the address is watched in both roles. */
export async function findTransfers(db: Kysely<Tables>, ref: string): Promise<StakedTransfer[]> {
  const { rows } = await sql<Omit<StakedTransfer, 'amount'> & { amount: string | null }>`
    select distinct on (o ->> 'role', o ->> 'to') o ->> 'role' as role, o ->> 'network' as network, o ->> 'tx' as tx,
      o ->> 'index' as index, o ->> 'to' as to, o ->> 'amount' as amount, a.symbol, a.decimals
    from chain_transfer s join evidence e on e.inbox_id = s.inbox_id cross join lateral (select e.observation as o) as said
      left join asset a on a.key = o ->> 'asset'
    where s.transfer = ${ref} order by o ->> 'role', o ->> 'to', s.inbox_id desc`.execute(db)
  return rows.map(({ amount, ...row }) => ({ ...row, amount: amount === null ? null : BigInt(amount) }))
}

export type StakedDeposit = {
  id: bigint
  serviceId: string | null
  transfer: string | null
  /** Booked as in transit, with no proved delivery; or a delivery lacks a part that is overdue. */
  outstanding: (OutstandingAmount & Stake) | null
  /** By the newest decision; null if it was withdrawn. */
  writtenOff: OutstandingAmount | null
}

/**
 * By our number or the service's id; locked until the transaction ends. For an absorbed deposit, the one that absorbed
 * it.
 */
export async function lockDeposit(
  tx: Transaction<Tables>,
  reference: string,
): Promise<StakedDeposit | undefined> {
  const found = await sql<{ id: bigint }>`
    select coalesce(merged_into, id) as id from deposit
    where id = ${depositNumber(reference)}::bigint or service_id = ${reference}
    order by service_id is distinct from ${reference} limit 1`.execute(tx)
  const id = found.rows[0]?.id
  if (id === undefined) return undefined
  await sql`select from deposit where id = ${id} for update`.execute(tx)
  const { rows } = await sql<Record<'outstanding' | 'writtenOff', AmountText | null> & DepositNames>`
    with standing as (
      select j.id, j.kind, j.transfer from ledger_journal j
      where j.transfer = (select transfer from deposit where id = ${id})
        and not exists (select from ledger_journal r where r.reverses = j.id)
    )
    select d.id, d.service_id as "serviceId", d.transfer, (
        select jsonb_build_object('of', found.of, 'asset', found.asset, 'amount', found.amount,
          'network', split_part(found.asset, '/', 1), 'symbol', a.symbol, 'decimals', a.decimals)
        from (
          select 'shortage' as of, t.asset, t.amount::text as amount
          from standing s join ledger_transfer t on t.journal_id = s.id
          where d.settled_at is not null and s.kind = 'shortage'
          union all
          (select 'in_transit', o ->> 'asset', o ->> 'amount'
          from chain_transfer c join evidence e on e.inbox_id = c.inbox_id
            cross join lateral (select e.observation as o) as said
          where d.settled_at is null and c.transfer = d.transfer and o ->> 'role' = 'deposit' and (
            exists (select from standing where kind = 'deposit')
            or (d.final_at is not null and d.deposited_at <= ledger_opened_at()))
          order by c.inbox_id desc limit 1)
        ) as found left join asset a on a.key = found.asset
        where not exists (select from standing where kind = 'refund')
        limit 1
      ) as outstanding, (
        select case e.action when 'written_off' then e.after end
        from mismatch_event e join mismatch m on m.id = e.mismatch_id
        where m.deposit_id = d.id and e.action in ('written_off', 'write_off_withdrawn') order by e.id desc limit 1
      ) as "writtenOff"
    from deposit d where d.id = ${id}`.execute(tx)
  return rows.map(({ outstanding, writtenOff, ...row }) => ({
    ...row,
    outstanding: outstanding && amountOf(outstanding),
    writtenOff: writtenOff && amountOf(writtenOff),
  }))[0]
}

type DepositNames = Omit<StakedDeposit, 'outstanding' | 'writtenOff'>

type AmountText = Omit<OutstandingAmount & Stake, 'amount'> & { amount: string }

function amountOf<Text extends { amount: string }>({ amount, ...rest }: Text) {
  return { ...rest, amount: BigInt(amount) as Amount }
}

/** Null if it is about none; undefined if there is no such mismatch. An absorbed deposit is that which absorbed it. */
export async function depositOfCase(db: Kysely<Tables>, id: bigint): Promise<bigint | null | undefined> {
  const { rows } = await sql<{ deposit: bigint | null }>`
    select coalesce(d.merged_into, d.id) as deposit from mismatch m left join deposit d on d.id = m.deposit_id
    where m.id = ${id}`.execute(db)
  return rows[0]?.deposit
}

/** Cases not cleared about this deposit, this chain transfer, or the deposit whose payment it is. */
export async function casesAbout(
  tx: Transaction<Tables>,
  { id }: StakedDeposit,
  transfer: string,
): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select id from mismatch
    where cleared_at is null and (deposit_id = ${id} or subject = ${`transfer/${transfer}`}
      or deposit_id = (select d.id from deposit d where d.transfer = ${transfer}))
    order by id`.execute(tx)
  return rows.map((row) => row.id)
}

export async function inboxIdOf(db: Kysely<Tables>, decisionId: string): Promise<bigint> {
  const { rows } = await sql<{ id: bigint }>`
    select id from inbox
    where source = 'person' and source_key = ${decisionId}`.execute(db)
  const [row] = rows
  assert(row !== undefined, 'a recorded decision is in the inbox')
  return row.id
}

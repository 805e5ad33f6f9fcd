import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { Fault } from '../../core/errors.ts'
import type { Tables } from '../tables.ts'
import { appendEvents, type CaseEvent, lockCases, reopened } from './cases.ts'

/** What one person did at once, to one mismatch or many. */
export type CaseAct = Pick<CaseEvent, 'actor' | 'action'> & {
  events: bigint[]
  mismatches: bigint[]
  /** Of the first mismatch; the same for all of them, unless it is an undo. */
  after: Record<string, unknown> | null
  isUndo: boolean
  isRecent: boolean
  mayUndo: boolean
}

/** What takes each action back. */
const opposites: Partial<Record<CaseEvent['action'], CaseEvent['action']>> = {
  assigned: 'assigned',
  snoozed: 'snoozed',
  commented: 'comment_withdrawn',
  resolved: 'reopened',
}

const undoWithin = sql`interval '15 minutes'`
/** As the index has it. */
const ofPeople = sql`e.actor not in ('depositd', 'policy')`

type ActRow = Omit<CaseAct, 'events' | 'mismatches' | 'mayUndo'> & {
  events: string[]
  mismatches: string[]
  isUndone: boolean
}

/** All events of one act have the time of its transaction. */
export async function readAct(db: Kysely<Tables>, event: bigint): Promise<CaseAct | null> {
  const { rows } = await sql<ActRow>`
    select one.actor, one.action, one.after, one.undoes is not null as "isUndo",
      array_agg(e.id::text order by e.id) as events, array_agg(e.mismatch_id::text order by e.id) as mismatches,
      bool_or(exists (select from mismatch_event u where u.undoes = e.id)) as "isUndone",
      one.at > now() - ${undoWithin} as "isRecent"
    from mismatch_event one join mismatch_event e
      on e.at = one.at and e.actor = one.actor and e.action = one.action and ${ofPeople}
    where one.id = ${event} group by one.id`.execute(db)
  const acts = rows.map(({ isUndone, events, mismatches, ...act }) => ({
    ...act,
    events: events.map(BigInt),
    mismatches: mismatches.map(BigInt),
    mayUndo: act.isRecent && !act.isUndo && !isUndone && opposites[act.action] !== undefined,
  }))
  return acts[0] ?? null
}

/** What the person did last and did not undo; null if that was too long ago to be undone. */
export async function lastActOf(db: Kysely<Tables>, person: string): Promise<bigint | null> {
  const { rows } = await sql<{ id: bigint }>`
    select e.id from mismatch_event e
    where e.at > now() - ${undoWithin} and ${ofPeople} and lower(e.actor) = lower(${person}) and e.undoes is null
      and not exists (select from mismatch_event u where u.undoes = e.id)
    order by e.at desc, e.id desc limit 1`.execute(db)
  return rows[0]?.id ?? null
}

/**
 * Appends the opposite of each event of the act.
 * @returns the act, and the number of the first event of the undo
 * @throws Fault `usage_bad` unless the person did it, just now, nothing was signed, and nothing changed it since
 */
export async function undoAct(
  tx: Transaction<Tables>,
  event: bigint,
  person: string,
): Promise<CaseAct & { undo: bigint }> {
  const act = await readAct(tx, event)
  if (act === null || act.actor.toLowerCase() !== person.toLowerCase())
    throw refused(`${person} did nothing that has the number ${event}`)
  const action = act.isUndo ? undefined : opposites[act.action]
  if (action === undefined) throw refused(`"${act.action.replaceAll('_', ' ')}" cannot be undone`)
  if (!act.isRecent) throw refused('only what was done in the last 15 minutes can be undone')
  const undone = await lockEvents(tx, act)
  const restored = restoredBy(act.action)
  if (restored !== null)
    await sql`
      update mismatch m set ${restored} from mismatch_event e
      where e.id = any(${act.events}::bigint[]) and m.id = e.mismatch_id`.execute(tx)
  const undo = await appendEvents(
    tx,
    undone.map(({ id, mismatchId, before, after }) => ({
      mismatchId,
      actor: act.actor,
      action,
      text: null,
      approvedBy: null,
      decision: null,
      undoes: id,
      ...(action === act.action ? { before: after, after: before } : { before, after }),
    })),
  )
  return { ...act, undo }
}

/** @throws Fault `usage_bad` with what keeps them from being taken back */
async function lockEvents(tx: Transaction<Tables>, act: CaseAct): Promise<UndoneEvent[]> {
  await lockCases(tx, act.mismatches)
  const events = await eventsOf(tx, act)
  const problems = events.flatMap(({ mismatchId, problem }) =>
    problem === null ? [] : [`mismatch ${mismatchId} ${problem}`],
  )
  if (problems.length > 0) throw refused(problems.join(', '))
  return events
}

/** Null if the action sets no column. */
function restoredBy(action: CaseEvent['action']): RawBuilder<unknown> | null {
  if (action === 'assigned') return sql`assigned_to = e.before ->> 'assigned_to'`
  if (action === 'snoozed')
    return sql`snoozed_until = (e.before ->> 'snoozed_until')::timestamptz,
      snooze_ends_with = e.before ->> 'snooze_ends_with'`
  if (action === 'resolved') return reopened
  return null
}

type UndoneEvent = Pick<CaseEvent, 'mismatchId' | 'before' | 'after'> & { id: bigint; problem: string | null }

/** With what keeps each from being taken back. Comments change nothing, and neither does what was undone. */
async function eventsOf(tx: Transaction<Tables>, { events }: CaseAct): Promise<UndoneEvent[]> {
  const { rows } = await sql<UndoneEvent>`
    select e.id, e.mismatch_id as "mismatchId", e.before, e.after, case
      when exists (select from mismatch_event u where u.undoes = e.id) then 'was undone already'
      when e.action = 'commented' then null
      when e.decision_id is not null or e.action = 'resolved' and may_be_lost(m.loss_amount, m.severity)
        then 'was resolved by a decision'
      when m.cleared_at is not null then 'was cleared by evidence since'
      when e.action = 'snoozed' and ((e.after ->> 'snoozed_until')::timestamptz, e.after ->> 'snooze_ends_with')
          is distinct from (m.snoozed_until, m.snooze_ends_with)
        or exists (
          select from mismatch_event l
          where l.mismatch_id = e.mismatch_id and l.id > e.id and l.action not in ('commented', 'comment_withdrawn', 'attached')
            and l.undoes is null and not exists (select from mismatch_event u where u.undoes = l.id)
        ) then 'was changed since'
      end as problem
    from mismatch_event e join mismatch m on m.id = e.mismatch_id
    where e.id = any(${events}::bigint[]) order by e.id`.execute(tx)
  return rows
}

function refused(problem: string): Fault<'usage_bad'> {
  const fix = 'do the opposite instead, with a reason if it needs one; nothing was changed'
  return new Fault('usage_bad', { problem, fix })
}

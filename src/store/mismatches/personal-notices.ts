import { sql, type Transaction } from 'kysely'
import { mismatchKinds } from '../../core/mismatch.ts'
import { asTable } from '../database.ts'
import type { Tables } from '../tables.ts'

/** What one person should hear of. `about` is the number of a mismatch, or of a decision that waits. */
export type PersonalNotice = {
  person: string
  topic: 'mention' | 'assigned' | 'overdue' | 'waiting'
  key: string
  about: bigint
  kind: string
  /** Who did it; null for a time that has passed. */
  by: string | null
  text: string | null
}

/** Older ones are no news. */
const newsOf = sql.lit('1 day')

const hoursOfKinds = Object.entries(mismatchKinds).map(([kind, { actWithinHours }]) => ({
  kind,
  hours: actWithinHours,
}))

/** Of the last day, and not noted before. A decision that waits is of any time. */
export async function readPersonalNotices(
  tx: Transaction<Tables>,
  people: readonly string[],
  now: Date,
): Promise<PersonalNotice[]> {
  const { rows } = await sql<PersonalNotice>`
    with person as (select name, lower(name) as lower from unnest(${people}::text[]) as name),
    recent as (
      select e.*, m.kind from mismatch_event e join mismatch m on m.id = e.mismatch_id
      where e.actor not in ('depositd', 'policy') and e.at > ${now}::timestamptz - ${newsOf}::interval
        and not exists (select from mismatch_event u where u.undoes = e.id)
    ),
    due as (
      select m.id, m.kind, m.assigned_to,
        greatest(m.opened_at + coalesce(k.hours, 24) * interval '1 hour', m.snoozed_until) as at
      from mismatch m left join ${asTable('k', hoursOfKinds, 'kind text, hours int')} on k.kind = m.kind
      where m.assigned_to is not null and m.cleared_at is null and m.resolved_at is null and m.snooze_ends_with is null
    ),
    notice as (
      select p.name as person, 'mention' as topic, 'mention/' || e.id as key, e.mismatch_id as about, e.kind, e.actor as by, e.text
      from recent e join person p on e.mentions @> array[p.lower] and lower(e.actor) <> p.lower
      union all
      select p.name, 'assigned', 'assigned/' || e.id, e.mismatch_id, e.kind, e.actor, null
      from recent e join person p on e.action = 'assigned' and lower(e.after ->> 'assigned_to') = p.lower and lower(e.actor) <> p.lower
      union all
      select p.name, 'overdue', 'overdue/' || d.id || '/' || extract(epoch from d.at)::bigint, d.id, d.kind, null, null
      from due d join person p on lower(d.assigned_to) = p.lower
      where d.at <= ${now}::timestamptz and d.at > ${now}::timestamptz - ${newsOf}::interval
      union all
      select p.name, 'waiting', 'waiting/' || w.id, w.id, w.kind, w.requested_by, null
      from accounting.decisions w join person p on lower(w.requested_by) <> p.lower
      where w.state = 'waiting' and w.people > 1
    )
    select person, topic, key, about, kind, by, text from notice
    where not exists (select from notification n where n.channel = 'people/' || notice.person and n.key = notice.key)
    order by person, topic, about`.execute(tx)
  return rows
}

import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { EventType } from '../core/event.ts'
import type { Owner, ServiceName } from '../core/evidence.ts'
import { reach } from '../failpoint.ts'
import type { Visible } from './books/list-deposits.ts'
import { inTransaction, preparing, whereSet } from './database.ts'
import type { MismatchChange } from './mismatches/mismatches.ts'
import type { Tables } from './tables.ts'

/** What happened, at least once to each reader: `id` is the same each time. docs/events.md describes `data`. */
export type FeedEvent = {
  /** From 1, without a gap. */
  sequence: bigint
  id: string
  type: EventType
  depositId: bigint | null
  /** The number of the event before it about the same deposit. */
  previous: bigint | null
  service: ServiceName | null
  owner: Owner | null
  at: Date
  data: Record<string, unknown>
}

export type FeedFilter = {
  types?: readonly EventType[] | undefined
  service?: string | undefined
  owner?: string | undefined
} & Visible

/** Of the table `event`. */
export const feedColumns = sql`sequence, event.id, type, deposit_id as "depositId", previous, service,
  case when owner_id is not null then jsonb_build_object('kind', owner_kind, 'id', owner_id) end as owner, at, data`

/** In order. Every committed event becomes readable once it has its number, so that none appears before one already read. */
export async function eventsAfter(
  db: Kysely<Tables>,
  sequence: bigint,
  { limit, upTo, types, service, owner, services, owners }: FeedFilter & { limit: number; upTo?: bigint },
): Promise<FeedEvent[]> {
  const conditions = [
    sql`sequence > ${sequence}`,
    ...whereSet(upTo, (last) => sql`sequence <= ${last}`),
    ...whereSet(types, (some) => sql`type = any(${some}::text[])`),
    ...whereSet(service, (name) => sql`service = ${name}`),
    ...whereSet(owner, (id) => sql`owner_id = ${id}`),
    ...whereSet(services, (names) => sql`service = any(${names}::text[])`),
    ...whereSet(owners, (ids) => sql`owner_id = any(${ids}::text[])`),
  ]
  const { rows } = await sql<FeedEvent>`
    select ${feedColumns} from event where ${sql.join(conditions, sql` and `)} order by sequence limit ${limit}`.execute(
    db,
  )
  return rows
}

/** `next`: all up to it that pass the filter are here, or were before. `newest`: 0 without events. */
export type FeedPage = { events: readonly FeedEvent[]; next: bigint; newest: bigint }

/** Bounds what one page costs if few events pass the filter. */
const lookedAtMax = 20_000n

export async function readFeed(
  db: Kysely<Tables>,
  after: bigint,
  filter: FeedFilter & { limit: number },
): Promise<FeedPage> {
  const { rows } = await sql<{ newest: bigint }>`
    select coalesce(max(sequence), 0)::bigint as newest from event`.execute(db)
  const newest = rows[0]?.newest ?? 0n
  if (newest <= after) return { events: [], next: after, newest }
  const upTo = newest - after > lookedAtMax ? after + lookedAtMax : newest
  const events = await eventsAfter(db, after, { ...filter, upTo })
  return { events, next: (events.length === filter.limit ? events.at(-1)?.sequence : null) ?? upTo, newest }
}

const numberedMax = 2000

/**
 * Gives each committed event its number. One caller at a time does: the others wait, so that each returns once all events
 * that were committed before its call are numbered.
 * @returns how many it numbered, and what people did about mismatches, each to one caller
 */
export async function numberEvents(
  db: Kysely<Tables>,
): Promise<{ count: number; mismatches: MismatchChange[] }> {
  const mismatches: MismatchChange[] = []
  for (let count = 0; ; ) {
    const numbered = await inTransaction(preparing(db), numberSome)
    count += numbered.length
    mismatches.push(
      ...numbered.flatMap(({ change, ...rest }) => (change === null ? [] : [{ ...rest, change }])),
    )
    if (numbered.length < numberedMax) return { count, mismatches }
  }
}

type NumberedEvent = Omit<MismatchChange, 'change'> & { change: 'resolved' | 'reopened' | null }

async function numberSome(tx: Transaction<Tables>): Promise<NumberedEvent[]> {
  await sql`select pg_advisory_xact_lock(hashtext('event numbers'))`.execute(tx)
  const { rows } = await sql<NumberedEvent>`
    with taken as (
      delete from event_pending where id in (select id from event_pending order by id limit ${numberedMax}) returning *
    ), numbered as (
      select newest.sequence + row_number() over (order by taken.id) as sequence, taken.*
      from taken, (select coalesce(max(sequence), 0) as sequence from event) as newest
    ), added as (
      insert into event (sequence, id, type, deposit_id, previous, service, owner_kind, owner_id, data, at)
      select n.sequence, n.event_id, n.type, n.deposit_id, ${previous}, coalesce(n.service, d.service),
        coalesce(credited.owner_kind, d.owner_kind), coalesce(credited.owner_id, d.owner_id), n.data, n.at
      from numbered n left join deposit d on d.id = n.deposit_id left join lateral (${credited}) as credited on true
      order by n.sequence
      returning sequence, service, data
    )
    select data ->> 'kind' as kind, data ->> 'severity' as severity, service, data ->> 'network' as network,
      data ->> 'decided' as change
    from added order by sequence`.execute(tx)
  if (rows.length > 0) reach('events.in_transaction')
  return rows
}

/** Who was credited hears that it no longer holds, also if the deposit has another owner by then. */
const credited = sql`
  select e.owner_kind, e.owner_id from event e
  where n.type = 'deposit.reversed' and e.deposit_id = n.deposit_id and e.type = 'deposit.credit_safe'
  order by e.sequence desc limit 1`

/** Among the events that are numbered together, or else among those that were before. */
const previous: RawBuilder<bigint | null> = sql`case when n.deposit_id is not null then coalesce(
  lag(n.sequence) over (partition by n.deposit_id order by n.sequence),
  (select max(e.sequence) from event e where e.deposit_id = n.deposit_id)) end`

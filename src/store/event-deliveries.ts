import { type Kysely, sql, type Transaction } from 'kysely'
import { assert } from '../core/errors.ts'
import type { EventPayload, EventType } from '../core/event.ts'
import { ageOf } from './database.ts'
import { isWanted } from './event-endpoints.ts'
import { type FeedEvent, feedColumns } from './events.ts'
import type { Tables } from './tables.ts'

/** An endpoint while a turn of its sender holds it. */
export type HeldEndpoint = {
  name: string
  /** Neither paused nor removed. */
  isActive: boolean
  url: string
  payload: EventPayload
  failures: number
  failing_since: Date | null
  rest_until: Date | null
  revision: number
}

/** Events of one lane are sent one after another: those of a deposit, or of none. */
export type DueEvent = FeedEvent & {
  delivery: bigint
  lane: bigint
  tries: number
  failingSince: Date | null
}

export type EventAttempt = {
  /** Null for a test. */
  sequence: bigint | null
  at: Date
  durationMs: number
} & ({ status: number; problem: null } | { status: null; problem: string })

/** Endpoints with something to send now, or to look at. */
export async function dueEndpoints(db: Kysely<Tables>, now: Date): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select e.id from event_endpoint e
    where e.state = 'active' and e.removed_at is null and (e.rest_until is null or e.rest_until <= ${now})
      and (e.position < (select coalesce(max(sequence), 0) from event)
        or exists (select from event_delivery d where d.endpoint_id = e.id and (d.next_at is null or d.next_at <= ${now})))
    order by e.id`.execute(db)
  return rows.map(({ id }) => id)
}

/** Until the transaction ends, no command changes it. */
export async function holdEndpoint(tx: Transaction<Tables>, id: bigint): Promise<HeldEndpoint> {
  const { rows } = await sql<HeldEndpoint>`
    select name, state = 'active' and removed_at is null as "isActive", url, payload, failures, failing_since, rest_until,
      revision
    from event_endpoint where id = ${id} for no key update`.execute(tx)
  const [held] = rows
  assert(held !== undefined, 'an endpoint keeps its row')
  return held
}

/** So that the events of one deposit do not take all the room. */
const ofLaneMax = 8

/**
 * The oldest events of each lane, up to one that waits to be tried again, without those that are held. Those of a lane
 * are in order, and lanes without failures come first.
 */
export async function dueEvents(
  tx: Transaction<Tables>,
  id: bigint,
  { now, held, limit }: { now: Date; held: readonly bigint[]; limit: number },
): Promise<DueEvent[]> {
  const { rows } = await sql<DueEvent>`
    select d.id as delivery, d.lane, d.tries, d.failing_since as "failingSince", ${feedColumns}
    from (
      select *, row_number() over in_order as place, first_value(tries) over in_order as lane_tries,
        bool_or(next_at > ${now}) over in_order as waits
      from event_delivery where endpoint_id = ${id} window in_order as (partition by lane order by sequence)
    ) as d join event using (sequence)
    where place <= ${ofLaneMax} and waits is not true and d.id <> all(${[...held]}::bigint[])
    order by lane_tries, sequence limit ${limit}`.execute(tx)
  return rows
}

/**
 * An endpoint that takes some events and not others does not fill the table, and what one lane has in three days leaves room
 * for the others.
 */
const deliveriesMax = 20_000
const takenMax = 500

/**
 * Takes the next events for the endpoint, as far as it wants them.
 * @returns false if there are no more, or too many wait already
 */
export async function takeEvents(tx: Transaction<Tables>, id: bigint): Promise<boolean> {
  const { rows } = await sql<{ taken: number }>`
    with page as (
      select event.sequence, event.deposit_id,
        ${isWanted} as is_wanted
      from event, event_endpoint e
      where e.id = ${id} and event.sequence > (select position from event_endpoint where id = ${id})
        and (select count(*) from event_delivery where endpoint_id = ${id}) < ${deliveriesMax}
      order by event.sequence limit ${takenMax}
    ), added as (
      insert into event_delivery (endpoint_id, sequence, lane)
      select ${id}, sequence, coalesce(deposit_id, 0) from page where is_wanted order by sequence
    ), moved as (
      update event_endpoint set position = (select max(sequence) from page)
      where id = ${id} and exists (select from page)
    )
    select count(*)::int as taken from page`.execute(tx)
  return rows[0]?.taken === takenMax
}

/** What attempts came to: they are done, or tried again. */
export type EndedDelivery = { delivery: bigint; next: null | { at: Date; tries: number; failingSince: Date } }

export async function storeAttempts(
  db: Kysely<Tables>,
  id: bigint,
  { attempts, ended }: { attempts: readonly EventAttempt[]; ended: readonly EndedDelivery[] },
): Promise<void> {
  const done = ended.filter(({ next }) => next === null).map(({ delivery }) => delivery)
  const again = ended.flatMap(({ delivery, next }) => (next === null ? [] : [{ delivery, ...next }]))
  await sql`
    with done as (
      delete from event_delivery where id = any(${done}::bigint[])
    ), again as (
      update event_delivery set tries = one.tries, next_at = one.at, failing_since = one.since
      from unnest(${again.map(({ delivery }) => delivery)}::bigint[], ${again.map(({ tries }) => tries)}::int[],
        ${again.map(({ at }) => at)}::timestamptz[], ${again.map(({ failingSince }) => failingSince)}::timestamptz[])
        as one (id, tries, at, since)
      where event_delivery.id = one.id
    )
    insert into event_attempt (endpoint_id, sequence, at, status, problem, duration_ms)
    select ${id}, one.* from unnest(${attempts.map(({ sequence }) => sequence)}::bigint[],
      ${attempts.map(({ at }) => at)}::timestamptz[], ${attempts.map(({ status }) => status)}::int[],
      ${attempts.map(({ problem }) => problem)}::text[], ${attempts.map(({ durationMs }) => durationMs)}::int[]) as one`.execute(
    db,
  )
}

export type EndpointHealth = Pick<HeldEndpoint, 'failures' | 'failing_since' | 'rest_until'>

export async function saveHealth(
  tx: Transaction<Tables>,
  id: bigint,
  { failures, failing_since: since, rest_until: until }: EndpointHealth,
): Promise<void> {
  await sql`
    update event_endpoint set failures = ${failures}, failing_since = ${since}, rest_until = ${until}
    where id = ${id}`.execute(tx)
}

/** What failed first during an outage that has ended now is due at once. */
export async function hastenDeliveries(tx: Transaction<Tables>, id: bigint, since: Date): Promise<void> {
  await sql`
    update event_delivery set next_at = null where endpoint_id = ${id} and failing_since >= ${since}`.execute(
    tx,
  )
}

/** `type` is null for a test. */
export type AttemptLine = EventAttempt & { id: bigint; type: EventType | null; depositId: bigint | null }

/** The newest first. */
export async function listAttempts(
  db: Kysely<Tables>,
  endpoint: bigint,
  { before, limit }: { before?: bigint | undefined; limit: number },
): Promise<AttemptLine[]> {
  const { rows } = await sql<AttemptLine>`
    select a.id, sequence, a.at, status, problem, duration_ms as "durationMs", type, deposit_id as "depositId"
    from event_attempt a left join event using (sequence)
    where endpoint_id = ${endpoint} and (${before ?? null}::bigint is null or a.id < ${before ?? null})
    order by a.id desc limit ${limit}`.execute(db)
  return rows
}

/** Of all endpoints together. */
const attemptsKept = 1_000_000
const attemptsKeptDays = 30
const prunedMax = 5000

/** Bounds the log of attempts, a part at each call. */
export async function pruneAttempts(db: Kysely<Tables>): Promise<void> {
  await sql`
    delete from event_attempt where id in (
      select id from (select id, at from event_attempt order by id limit ${prunedMax}) as oldest
      where id <= (select max(id) - ${attemptsKept} from event_attempt)
        or at < now() - ${attemptsKeptDays} * interval '1 day')`.execute(db)
}

/** Endpoints by state, and the age of the oldest event that an active one has not taken, in seconds. */
export type EventGauges = { active: number; paused: number; stopped: number; oldest: number }

export async function readEventGauges(db: Kysely<Tables>): Promise<EventGauges> {
  const { rows } = await sql<EventGauges>`
    select count(*) filter (where state = 'active')::int as active,
      count(*) filter (where reason = 'requested')::int as paused,
      count(*) filter (where reason <> 'requested')::int as stopped,
      coalesce(max(${ageOf(sql`event.at`)}) filter (where state = 'active'), 0) as oldest
    from event_endpoint e
      left join event on event.sequence = coalesce(
        (select min(d.sequence) from event_delivery d where d.endpoint_id = e.id), e.position + 1)
    where e.removed_at is null`.execute(db)
  return rows[0] ?? { active: 0, paused: 0, stopped: 0, oldest: 0 }
}

import { sql } from 'kysely'
import type { AttemptRow, DeliveryRow, DeliveryStatus, ServiceDatabase } from '../tables.ts'

export type LoggedDelivery = DeliveryRow & { type: string; log: readonly AttemptRow[] }

/** Covers the whole schedule. */
const attemptsShown = 20

export type DeliveryFilter = { status: DeliveryStatus | undefined } & (
  | { endpointId: string }
  | { eventId: string }
)

/** Newest first, below a sequence. */
export async function listDeliveries(
  db: ServiceDatabase,
  filter: DeliveryFilter,
  { below, limit }: { below: bigint | null; limit: number },
): Promise<LoggedDelivery[]> {
  const { status } = filter
  const deliveries = await db
    .selectFrom('service.delivery as delivery')
    .innerJoin('service.event as event', 'event.id', 'delivery.event_id')
    .selectAll('delivery')
    .select('event.type')
    .where((build) =>
      'endpointId' in filter
        ? build('endpoint_id', '=', filter.endpointId)
        : build('event_id', '=', filter.eventId),
    )
    .$if(below !== null, (query) => query.where('delivery.sequence', '<', below))
    .$if(status !== undefined, (query) => query.where('status', '=', status ?? 'pending'))
    .orderBy('delivery.sequence', 'desc')
    .limit(limit)
    .execute()
  const attempts = await attemptsOf(db, deliveries)
  const logs = Map.groupBy(attempts, keyOf)
  return deliveries.map((delivery) => ({ ...delivery, log: logs.get(keyOf(delivery)) ?? [] }))
}

type Key = { event_id: string; endpoint_id: string }

function keyOf({ event_id, endpoint_id }: Key): string {
  return `${event_id}/${endpoint_id}`
}

async function attemptsOf(
  db: ServiceDatabase,
  deliveries: readonly DeliveryRow[],
): Promise<readonly AttemptRow[]> {
  const { rows } = await sql<AttemptRow>`
    select attempt.* from service.delivery_attempt as attempt
    join unnest(
      ${deliveries.map(({ event_id }) => event_id)}::text[],
      ${deliveries.map(({ endpoint_id }) => endpoint_id)}::text[],
      ${deliveries.map(({ attempts }) => attempts)}::integer[]
    ) as wanted (event_id, endpoint_id, newest) using (event_id, endpoint_id)
    where attempt.number > newest - ${attemptsShown}
    order by attempt.number desc`.execute(db)
  return rows
}

export type DueDelivery = {
  event_id: string
  endpoint_id: string
  /** `tries` counts from the last request for the delivery. */
  attempts: number
  tries: number
  url: string
  body: string
  /** Null for the test of an endpoint. */
  deposit: { network: string; transaction: string; index: string } | null
}

export type DeliveryCapacity = {
  total: number
  perEndpoint: number
  own: ReadonlyMap<string, number>
}

/** Longer than two timeouts. A crashed attempt is repeated after this time. */
const leaseSeconds = 45

/** Takes them exclusively for this process, longest due first. */
export async function takeDue(
  db: ServiceDatabase,
  { total, perEndpoint, own }: DeliveryCapacity,
  now: Date,
): Promise<readonly DueDelivery[]> {
  const { rows } = await sql<DueDelivery>`
    with due as (
      select pending.event_id, pending.endpoint_id, pending.next_at
      from service.webhook_endpoint as endpoint
      left join unnest(${[...own.keys()]}::text[], ${[...own.values()]}::integer[]) as room (id, places)
        on room.id = endpoint.id
      cross join lateral (
        select event_id, endpoint_id, next_at, sequence from service.delivery
        where endpoint_id = endpoint.id and next_at <= ${now}
        order by next_at, sequence
        limit coalesce(room.places, ${perEndpoint}::integer) for update skip locked
      ) as pending
      where endpoint.status = 'active' and (endpoint.resume_at <= ${now}) is not false
      order by pending.next_at, pending.sequence limit ${total}
    ), taken as (
      update service.delivery as delivery set attempts = attempts + 1, tries = tries + 1,
        next_at = ${now}::timestamptz + make_interval(secs => ${leaseSeconds})
      from due where (delivery.event_id, delivery.endpoint_id) = (due.event_id, due.endpoint_id)
      returning delivery.event_id, delivery.endpoint_id, delivery.attempts, delivery.tries, due.next_at as due_at
    ), logged as (
      insert into service.delivery_attempt (event_id, endpoint_id, number, started_at)
      select event_id, endpoint_id, attempts, ${now}::timestamptz from taken
    )
    select taken.event_id, taken.endpoint_id, taken.attempts, taken.tries, endpoint.url, event.body,
      case when deposit.id is not null then
        jsonb_build_object('network', network, 'transaction', transaction, 'index', index) end as deposit
    from taken
    join service.webhook_endpoint as endpoint on endpoint.id = taken.endpoint_id
    join service.event on event.id = taken.event_id
    left join service.deposit on deposit.id = event.deposit_id
    order by due_at, event.sequence`.execute(db)
  return rows
}

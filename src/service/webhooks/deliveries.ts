import { sql } from 'kysely'
import type { ServiceDatabase } from '../tables.ts'
import type { AttemptRow, DeliveryRow, DeliveryStatus } from './tables.ts'

/** A delivery with its newest attempts, newest first. */
export type LoggedDelivery = DeliveryRow & { type: string; log: readonly AttemptRow[] }

/** Covers the whole schedule. Older attempts of a delivery that was resent often are not listed. */
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

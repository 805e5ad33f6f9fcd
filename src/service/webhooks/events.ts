import { type Selectable, sql } from 'kysely'
import { inTransaction } from '../../store/database.ts'
import { inPieces } from '../in-pieces.ts'
import { newId } from '../new-id.ts'
import type {
  DeliveryRow,
  EndpointRow,
  ServiceDatabase,
  ServiceTransaction,
  WebhookTables,
} from '../tables.ts'
import { lockEndpoint } from './endpoints.ts'

export type EventRow = Selectable<WebhookTables['service.event']>

/** Concerns no deposit and no withdrawal. */
export const testType = 'endpoint.test'

export type NewEvent = Omit<EventRow, 'sequence'>

const eventLock = 7_246_302
const columnsMax = 10

/** Writers wait for each other until they commit, so that no event appears below one that was already listed. */
export async function writeEvents(tx: ServiceTransaction, events: readonly NewEvent[]): Promise<void> {
  await lockEvents(tx)
  for (const piece of inPieces(events, columnsMax)) {
    await tx.insertInto('service.event').values(piece).execute()
  }
}

/** Always taken before the lock of an endpoint, to prevent deadlocks. */
async function lockEvents(tx: ServiceTransaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${eventLock})`.execute(tx)
}

/** Skips endpoints that are inactive or do not subscribe. */
export async function queueForAll(tx: ServiceTransaction, eventIds: readonly string[]): Promise<void> {
  await sql`
    insert into service.delivery (event_id, endpoint_id)
    select event.id, endpoint.id
    from service.event
    join (
      select id, types from service.webhook_endpoint where status = 'active' for key share
    ) as endpoint on endpoint.types is null or event.type = any(endpoint.types)
    where event.id = any(${eventIds})
    order by event.sequence, endpoint.id`.execute(tx)
}

/** Null if the endpoint is not active. */
export function sendTest(db: ServiceDatabase, endpointId: string, at: Date): Promise<NewEvent | null> {
  return inTransaction(db, async (tx) => {
    await lockEvents(tx)
    const endpoint = await lockEndpoint(tx, endpointId)
    if (endpoint?.status !== 'active') return null
    const event = testEvent(endpoint, at)
    await writeEvents(tx, [event])
    await tx
      .insertInto('service.delivery')
      .values({ event_id: event.id, endpoint_id: endpointId, next_at: at })
      .execute()
    return event
  })
}

function testEvent({ id: endpointId, url }: EndpointRow, at: Date): NewEvent {
  const id = newId('evt')
  const data = { endpoint: { id: endpointId, url } }
  const body = JSON.stringify({ id, type: testType, created_at: at.toISOString(), data })
  return { id, type: testType, deposit_id: null, revision: null, body, created_at: at }
}

export function findEvent(db: ServiceDatabase, id: string): Promise<EventRow | undefined> {
  return db.selectFrom('service.event').selectAll().where('id', '=', id).executeTakeFirst()
}

export type EventFilter = { type: string | undefined; deposit: string | undefined }

/** Newest first, below a sequence. */
export function listEvents(
  db: ServiceDatabase,
  { type, deposit }: EventFilter,
  { below, limit }: { below: bigint | null; limit: number },
): Promise<EventRow[]> {
  return db
    .selectFrom('service.event')
    .selectAll()
    .$if(below !== null, (query) => query.where('sequence', '<', below))
    .$if(type !== undefined, (query) => query.where('type', '=', type ?? ''))
    .$if(deposit !== undefined, (query) => query.where('deposit_id', '=', deposit ?? ''))
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute()
}

export type Resend = { event: EventRow; endpointId: string | null; at: Date }

/**
 * Starts the schedule anew: for the named endpoint, regardless of its types and earlier deliveries, or for every one
 * that would receive the event today. A test event goes only to its own. Inactive endpoints are skipped.
 */
export function resendEvent(db: ServiceDatabase, { event, endpointId, at }: Resend): Promise<DeliveryRow[]> {
  return inTransaction(db, async (tx) => {
    await lockEvents(tx)
    const { rows } = await sql<DeliveryRow>`
      insert into service.delivery (event_id, endpoint_id, next_at)
      select ${event.id}, id, ${at}
      from (
        select id from service.webhook_endpoint
        where status = 'active' and case
          when ${endpointId}::text is not null then id = ${endpointId}
          when ${event.type} = ${testType} then
            exists (select from service.delivery where event_id = ${event.id} and endpoint_id = webhook_endpoint.id)
          else types is null or ${event.type} = any(types) end
        for key share
      ) as endpoint
      order by id
      on conflict (event_id, endpoint_id) do update
        set status = 'pending', tries = 0, next_at = excluded.next_at, ended_at = null
      returning *`.execute(tx)
    return rows
  })
}

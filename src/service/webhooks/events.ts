import { sql } from 'kysely'
import type { ServiceTransaction } from '../tables.ts'

export type NewEvent = {
  id: string
  type: string
  deposit_id: string | null
  revision: number | null
  body: string
  created_at: Date
}

const eventLock = 7_246_302

/**
 * Writes events, in the order in which readers see them appear: those who write them wait for each other until they
 * commit, so that no event ever appears below one that was listed already.
 */
export async function writeEvents(tx: ServiceTransaction, events: readonly NewEvent[]): Promise<void> {
  await sql`select pg_advisory_xact_lock(${eventLock})`.execute(tx)
  await tx.insertInto('service.event').values(events).execute()
}

/** Sends events to all endpoints that are active and want them. An endpoint that is ended meanwhile is left out. */
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

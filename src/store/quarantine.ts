import { type Kysely, sql } from 'kysely'
import type { ServiceName } from '../core/evidence.ts'
import { inTransaction } from './database.ts'
import { packRows, type Sample } from './inbox.ts'
import type { Tables } from './tables.ts'

/** `source` identifies the client. Credentials in the headers are hashed. */
export type QuarantineRow = {
  service: ServiceName
  receivedAt: Date
  source: string
  reason: string
  headers: Record<string, string>
  body: Buffer
}

/** Besides the body and headers. */
const overheadBytes = 200

/**
 * Every client has the same share, so that a flood evicts its own rows: rows are ranked by the bytes of their client's
 * newer rows.
 */
export function keepQuarantined(
  db: Kysely<Tables>,
  rows: readonly QuarantineRow[],
  { rowsMax, bytesMax }: { rowsMax: number; bytesMax: number },
): Promise<void> {
  const { heads, bodies } = packRows(
    rows,
    ({ service, receivedAt, source, reason, headers, body: { length } }, first) => ({
      service,
      received_at: receivedAt,
      source,
      reason,
      headers,
      first,
      length,
      size: length + JSON.stringify(headers).length + overheadBytes,
    }),
  )
  return inTransaction(db, async (tx) => {
    // One writer at a time, so that two evictions do not deadlock.
    await sql`select pg_advisory_xact_lock(hashtext('quarantine'))`.execute(tx)
    await sql`
      insert into quarantine (service, received_at, source, reason, headers, body, size)
      select service, received_at, source, reason, headers, substring(${bodies}::bytea from first for length), size
      from jsonb_to_recordset(${heads}::jsonb) as row (
        service text, received_at timestamptz, source text, reason text, headers jsonb, first int, length int, size int
      )`.execute(tx)
    await sql`
      with share as (
        select id, size, sum(size) over (partition by source order by id desc) as taken from quarantine
      ), turn as (
        select id, row_number() over (order by taken, id desc) as place,
          sum(size) over (order by taken, id desc) as total
        from share
      )
      delete from quarantine using turn
      where turn.id = quarantine.id and (turn.place > ${rowsMax} or turn.total > ${bytesMax})`.execute(tx)
  })
}

export type QuarantineLine = {
  id: string
  service: string
  received_at: Date
  source: string
  reason: string
  bytes: number
  user_agent: string
}

/** Newest first, with ids below `before`. */
export async function listQuarantine(
  db: Kysely<Tables>,
  { limit, before, service }: { limit: number; before?: bigint | undefined; service?: string | undefined },
): Promise<QuarantineLine[]> {
  const { rows } = await sql<QuarantineLine>`
    select id::text as id, service, received_at, source, reason, length(body) as bytes,
      coalesce(headers ->> 'user-agent', '') as user_agent
    from quarantine
    where id < ${before ?? largestId} and (${service ?? null}::text is null or service = ${service ?? null})
    order by id desc limit ${limit}`.execute(db)
  return rows
}

const largestId = 2n ** 63n - 1n

export type QuarantinedRow = QuarantineRow & { id: bigint }

/** `ids` is null for all. */
export async function readQuarantine(
  db: Kysely<Tables>,
  {
    ids,
    after,
    limit,
    service = null,
  }: { ids: readonly bigint[] | null; after: bigint; limit: number; service?: ServiceName | null },
): Promise<QuarantinedRow[]> {
  const { rows } = await sql<QuarantinedRow>`
    select id, service, received_at as "receivedAt", source, reason, headers, body from quarantine
    where id > ${after} and (${ids}::bigint[] is null or id = any(${ids}::bigint[]))
      and (${service}::text is null or service = ${service})
    order by id limit ${limit}`.execute(db)
  return rows
}

/** @returns the numbers of the deleted deliveries */
export async function dropQuarantined(db: Kysely<Tables>, ids: readonly bigint[] | null): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    delete from quarantine where ${ids}::bigint[] is null or id = any(${ids}::bigint[]) returning id`.execute(
    db,
  )
  return rows.map(({ id }) => id)
}

/** Two concurrent retries would each count deliveries that the other stored as repeats. */
export function retryAlone<Result>(db: Kysely<Tables>, work: () => Promise<Result>): Promise<Result> {
  return db.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(hashtext('quarantine retry'))`.execute(connection)
    try {
      return await work()
    } finally {
      await sql`select pg_advisory_unlock(hashtext('quarantine retry'))`.execute(connection)
    }
  })
}

/** In turns by client, so that no client hides the others; oldest first. */
export async function newestQuarantined(
  db: Kysely<Tables>,
  limit: number,
  service: ServiceName | null = null,
): Promise<(Sample & { source: string })[]> {
  const { rows } = await sql<Sample & { source: string }>`
    select headers, body, received_at as "receivedAt", source from quarantine
    where id in (
      select id from (
        select id, row_number() over (partition by source order by id desc) as turn from quarantine
        where ${service}::text is null or service = ${service}
      ) as turns order by turn, id desc limit ${limit}
    ) order by id`.execute(db)
  return rows
}

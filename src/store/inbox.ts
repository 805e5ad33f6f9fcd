import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { defaultService } from '../core/deposit-service.ts'
import { prepared } from './database.ts'
import { type PackedRows, packRows } from './pack-rows.ts'
import type { Tables } from './tables.ts'

/** Something a source said, exactly as it said it. The key tells it from everything else that source said. */
export type NewInboxRow = {
  source: 'webhook' | 'api' | 'chain' | 'person'
  sourceKey: string
  body: Buffer
  headers: Record<string, string>
  receivedAt: Date
}

export type PendingRow = Omit<NewInboxRow, 'sourceKey'> & { id: bigint; storedAt: Date }

/** Appends rows, no two with one key, in one statement, and returns the ids of those that were new, by source and key. */
export async function appendInbox(
  db: Kysely<Tables>,
  rows: readonly NewInboxRow[],
): Promise<Map<string, bigint>> {
  const { heads, bodies } = packed(rows)
  // Rows go in by key, so that two writers of the same keys wait for each other instead of deadlocking.
  const { rows: added } = await sql<{
    id: bigint
    source: string
    source_key: string
  }>`${prepared('append_inbox')}
    with incoming as (
      select source, source_key, substring(${bodies}::bytea from first for length) as body, headers, received_at
      from jsonb_to_recordset(${heads}::jsonb) as row (
        source text, source_key text, first int, length int, headers jsonb, received_at timestamptz
      )
    ), added as (
      insert into inbox (source, source_key, service, body, headers, received_at)
      select source, source_key, ${defaultService}, body, headers, received_at from incoming order by source, source_key
      on conflict (source, source_key, service) do nothing
      returning id, source, source_key, received_at
    ), pending as (
      insert into inbox_pending (inbox_id, received_at) select id, received_at from added
    )
    select id, source, source_key from added`.execute(db)
  return new Map(added.map(({ id, source, source_key }) => [rowKey({ source, sourceKey: source_key }), id]))
}

function packed(rows: readonly NewInboxRow[]): PackedRows {
  return packRows(rows, ({ source, sourceKey, headers, receivedAt, body: { length } }, first) => ({
    source,
    // Half a surrogate pair is no character to a document of Postgres; as a parameter of its own it would be replaced.
    source_key: sourceKey.toWellFormed(),
    first,
    length,
    headers,
    received_at: receivedAt,
  }))
}

/** The oldest rows that wait to be applied. */
export async function pendingIds(db: Kysely<Tables>, rowsMax: number): Promise<bigint[]> {
  const rows = await db
    .selectFrom('inbox_pending')
    .select('inbox_id')
    .orderBy('inbox_id')
    .limit(rowsMax)
    .execute()
  return rows.map(({ inbox_id }) => inbox_id)
}

/** Whether more rows than so many wait to be applied. */
export async function isMorePending(db: Kysely<Tables>, than: number): Promise<boolean> {
  const { rows } = await sql`select from inbox_pending offset ${than} limit 1`.execute(db)
  return rows.length > 0
}

/** How much is read at once: one row at least, and no further one behind so many bytes of bodies. */
export type BatchLimits = { rowsMax: number; bytesMax: number }

/** The oldest rows, or one row alone. */
export type PendingSelection = BatchLimits | { id: bigint }

/** Takes rows that nobody else is applying, and holds them until the transaction ends. */
export async function takePending(tx: Transaction<Tables>, wanted: PendingSelection): Promise<PendingRow[]> {
  const { rowsMax, bytesMax } = 'id' in wanted ? { rowsMax: 1, bytesMax: 1 } : wanted
  const which = 'id' in wanted ? sql`inbox_id = ${wanted.id}` : sql`true`
  return readWithin(
    tx,
    sql`select inbox_id as id from inbox_pending where ${which}
      order by inbox_id limit ${rowsMax} for update skip locked`,
    bytesMax,
  )
}

/** Reads the inbox rows whose ids a query gives, in order, as far as the bound on bytes allows. */
export async function readWithin(
  tx: Transaction<Tables>,
  ids: RawBuilder<unknown>,
  bytesMax: number,
): Promise<PendingRow[]> {
  // The length of a body is known without reading it.
  const { rows } = await sql<PendingRow>`
    with wanted as materialized (${ids}), sized as (
      select inbox.*, sum(octet_length(body)) over (order by id) - octet_length(body) as bytes_before
      from wanted join inbox using (id)
    )
    select id, source, body, headers, received_at as "receivedAt", stored_at as "storedAt"
    from sized where bytes_before < ${bytesMax} order by id`.execute(tx)
  return rows
}

export async function finishPending(tx: Transaction<Tables>, ids: readonly bigint[]): Promise<void> {
  await sql`delete from inbox_pending where inbox_id = any(${ids}::bigint[])`.execute(tx)
}

/** Seconds for which the oldest row has waited, by the database's clock; 0 where none waits. */
export async function oldestPending(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ seconds: number }>`
    select coalesce(greatest(extract(epoch from now() - min(stored_at)), 0), 0)::float8 as seconds
    from inbox_pending`.execute(db)
  return rows[0]?.seconds ?? 0
}

/** Rows come in nearly in the order in which they are stored; of so many of the oldest the first is looked for. */
const lookedThrough = 20_000

/**
 * When the first row came in that still waits to be applied, those included that somebody applies at this moment;
 * null where none waits. Everything that came in before has been applied.
 */
export async function waitingSince(
  tx: Transaction<Tables>,
  leftOut: readonly bigint[],
): Promise<Date | null> {
  const { rows } = await sql<{ since: Date | null }>`
    select min(received_at) as since from (
      select received_at from inbox_pending where inbox_id <> all(${leftOut}::bigint[])
      order by inbox_id limit ${lookedThrough}
    ) as waiting`.execute(tx)
  return rows[0]?.since ?? null
}

export function rowKey({ source, sourceKey }: { source: string; sourceKey: string }): string {
  return `${source} ${sourceKey}`
}

/** The traces, as `traceparent` of W3C Trace Context, in which rows came in; of those alone that came in traced. */
export async function traceparentsOf(
  db: Kysely<Tables>,
  ids: readonly bigint[],
): Promise<Map<bigint, string>> {
  const { rows } = await sql<{ id: bigint; traceparent: string }>`
    select id, headers->>'traceparent' as traceparent from inbox
    where id = any(${ids}::bigint[]) and headers ? 'traceparent'`.execute(db)
  return new Map(rows.map(({ id, traceparent }) => [id, traceparent]))
}

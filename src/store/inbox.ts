import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import {
  defaultService,
  encodeObservation,
  itemHeader,
  type Observation,
  type ServiceName,
} from '../core/evidence.ts'
import { type UnreadableKind } from '../core/mismatch.ts'
import { walletHeader } from '../core/withdrawal-claim.ts'
import { ageOf, asTable, preparing } from './database.ts'
import type { Tables } from './tables.ts'

/** A message exactly as it arrived. The key is unique within its source. */
export type NewInboxRow = {
  source: 'webhook' | 'api' | 'chain' | 'person'
  sourceKey: string
  body: Buffer
  headers: Record<string, string>
  receivedAt: Date
  /** Absent for what no service sent. */
  service?: ServiceName
}

export type PendingRow = Required<Omit<NewInboxRow, 'sourceKey'>> & { id: bigint; storedAt: Date }

/**
 * The rows must have distinct keys.
 * @returns the ids of the new rows, by key
 */
export async function appendInbox(
  db: Kysely<Tables>,
  rows: readonly NewInboxRow[],
): Promise<Map<string, bigint>> {
  const { heads, bodies } = packed(rows)
  // Ordered, so that two writers of the same keys wait for each other instead of deadlocking.
  const { rows: added } = await sql<{ id: bigint; key: string }>`
    with incoming as (
      select source, source_key, service, substring(${bodies}::bytea from first for length) as body, headers, received_at
      from jsonb_to_recordset(${heads}::jsonb) as row (
        source text, source_key text, service text, first int, length int, headers jsonb, received_at timestamptz
      )
    ), added as (
      insert into inbox (source, source_key, service, body, headers, received_at)
      select source, source_key, service, body, headers, received_at from incoming order by source, source_key
      on conflict (source, source_key) do nothing
      returning id, source, source_key, received_at
    ), pending as (
      insert into inbox_pending (inbox_id, received_at) select id, received_at from added
    )
    select id, source_key as key from added`.execute(preparing(db))
  return new Map(added.map(({ id, key }) => [key, id]))
}

/**
 * Each further item of a webhook becomes a pending row of its own, beside that of the first. Without effect on rows that
 * are split already. A key of a sender has no space, so no event has the key of an item.
 */
export async function splitInbox(
  tx: Transaction<Tables>,
  rows: readonly { id: bigint; items: number }[],
): Promise<void> {
  if (rows.length === 0) return
  await sql`
    with added as (
      insert into inbox (source, source_key, service, body, headers, received_at)
      select source, source_key || ' item:' || item, service, body,
        headers || jsonb_build_object(${itemHeader}::text, item::text), received_at
      from ${asTable('listing', rows, 'id bigint, items int')} join inbox using (id), generate_series(2, items) as item
      order by source_key, item
      on conflict (source, source_key) do nothing
      returning id, received_at
    )
    insert into inbox_pending (inbox_id, received_at) select id, received_at from added`.execute(tx)
}

/** @returns the observations that were not stored before */
export async function appendObservations<One extends Observation>(
  tx: Transaction<Tables>,
  source: 'chain' | 'person',
  observations: readonly (readonly [key: string, observation: One])[],
): Promise<{ inboxId: bigint; observation: One }[]> {
  if (observations.length === 0) return []
  const rows = observations.map(([sourceKey, observation]) => ({
    source,
    sourceKey,
    body: Buffer.from(encodeObservation(observation)),
    headers: {},
    receivedAt: observation.receivedAt,
  }))
  const added = await appendInbox(tx, rows)
  return observations.flatMap(([key, observation]) => {
    const inboxId = added.get(key)
    return inboxId === undefined ? [] : [{ inboxId, observation }]
  })
}

function packed(rows: readonly NewInboxRow[]): PackedRows {
  return packRows(rows, ({ source, sourceKey, service, headers, receivedAt, body: { length } }, first) => ({
    source,
    service: service ?? defaultService,
    // jsonb rejects half a surrogate pair. A text parameter would replace it in the same way.
    source_key: sourceKey.toWellFormed(),
    first,
    length,
    headers,
    received_at: receivedAt,
  }))
}

export async function pendingIds(db: Kysely<Tables>, rowsMax: number): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select inbox_id as id from inbox_pending order by inbox_id limit ${rowsMax}`.execute(db)
  return rows.map(({ id }) => id)
}

export async function isMorePending(db: Kysely<Tables>, than: number): Promise<boolean> {
  const { rows } = await sql`select from inbox_pending offset ${than} limit 1`.execute(db)
  return rows.length > 0
}

/** At least one row, and no further row once the bodies reach `bytesMax`. */
export type BatchLimits = { rowsMax: number; bytesMax: number }

export type PendingSelection = BatchLimits | { id: bigint }

/** Skips rows that another transaction is applying; locks the others until the transaction ends. */
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
    select id, source, service, body, headers, received_at as "receivedAt", stored_at as "storedAt"
    from sized where bytes_before < ${bytesMax} order by id`.execute(tx)
  return rows
}

export async function finishPending(tx: Transaction<Tables>, ids: readonly bigint[]): Promise<void> {
  await sql`delete from inbox_pending where inbox_id = any(${ids}::bigint[])`.execute(tx)
}

/** `oldest` is its age in seconds by the database's clock; 0 if none is pending. */
export async function readPending(db: Kysely<Tables>): Promise<{ pending: number; oldest: number }> {
  const { rows } = await sql<{ pending: number; oldest: number }>`
    select count(*)::int as pending, ${ageOf(sql`min(stored_at)`)} as oldest from inbox_pending`.execute(db)
  return rows[0] ?? { pending: 0, oldest: 0 }
}

/** Rows are stored nearly in order of arrival: the earliest is among this many of the oldest. */
const lookedThrough = 20_000

/** Includes rows that another transaction is applying. All rows that arrived before have been applied. */
export async function waitingSince(
  tx: Transaction<Tables>,
  leftOut: readonly bigint[],
): Promise<Date | null> {
  const { rows } = await sql<{ since: Date | null }>`
    select min(received_at) as since from (
      select received_at from inbox_pending where inbox_id not in (select unnest(${leftOut}::bigint[]))
      order by inbox_id limit ${lookedThrough}
    ) as waiting`.execute(tx)
  return rows[0]?.since ?? null
}

/** As `traceparent` of W3C Trace Context. Rows without a trace are omitted. */
export async function traceparentsOf(
  db: Kysely<Tables>,
  ids: readonly bigint[],
): Promise<Map<bigint, string>> {
  const { rows } = await sql<{ id: bigint; traceparent: string }>`
    select id, headers->>'traceparent' as traceparent from inbox
    where id = any(${ids}::bigint[]) and headers ? 'traceparent'`.execute(db)
  return new Map(rows.map(({ id, traceparent }) => [id, traceparent]))
}

type PackedRows = { heads: string; bodies: Buffer }

/**
 * Two parameters for any number of rows. Bodies are sent as bytes, since the text of an array doubles them.
 * @param headOf receives the position of the row's body among all bytes, from 1
 */
export function packRows<Row extends { body: Buffer }>(
  rows: readonly Row[],
  headOf: (row: Row, first: number) => object,
): PackedRows {
  let first = 1
  const heads = rows.map((row) => {
    const head = headOf(row, first)
    first += row.body.length
    return head
  })
  return { heads: JSON.stringify(heads), bodies: Buffer.concat(rows.map(({ body }) => body)) }
}

export type Sample = { headers: Record<string, string>; body: Buffer; receivedAt: Date }

/** Oldest first. */
export async function newestSamples(
  db: Kysely<Tables>,
  source: 'webhook' | 'api',
  { limit, service = null }: { limit: number; service?: ServiceName | null },
): Promise<Sample[]> {
  const { rows } = await sql<Sample>`
    select headers, body, received_at as "receivedAt" from inbox
    where source = ${source} and (${service}::text is null or service = ${service})
      and not headers ?| ${[itemHeader, walletHeader]}::text[]
    order by id desc limit ${limit}`.execute(db)
  return rows.toReversed()
}

export type UnappliedPayloadFilter = {
  /** Those with uncleared mismatches of these kinds; `all` includes those that the profile skipped. */
  kinds: readonly UnreadableKind[] | 'all'
  since: Date | null
}

/** Locks the payloads' uncleared mismatches until the transaction ends. */
export async function takeKept(
  tx: Transaction<Tables>,
  { kinds, since }: UnappliedPayloadFilter,
  { after, rowsMax, bytesMax }: BatchLimits & { after: bigint },
): Promise<PendingRow[]> {
  const next = sql`inbox.id > ${after} and received_at >= ${since ?? '-infinity'}::timestamptz`
  const ids =
    kinds === 'all'
      ? sql`
          select id from inbox
          where ${next} and source in ('webhook', 'api')
            and not exists (select from evidence where inbox_id = inbox.id)
            and not exists (select from inbox_pending where inbox_id = inbox.id)
          order by id limit ${rowsMax}`
      : sql`
          select inbox.id from mismatch join inbox on inbox.id = substring(subject from '^inbox/(\\d+)$')::bigint
          where ${next} and kind = any(${kinds}::text[]) and cleared_at is null
          order by inbox.id limit ${rowsMax} for update of mismatch`
  return readWithin(tx, ids, bytesMax)
}

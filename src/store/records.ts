import { createHash } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import { idAmongServices, type ServiceName } from '../core/evidence.ts'
import { asTable } from './database.ts'
import { appendInbox } from './inbox.ts'
import type { Tables } from './tables.ts'

/** The id is unique among services. A record without one is stored, but cannot be followed. */
export type ServiceRecord = { id: string | null; time: Date | null; text: string }

export type Reading = { service: ServiceName; sentAt: Date; receivedAt: Date }

/**
 * Stores changed records as revisions in the inbox. Ignores a response to an earlier request than that of the last
 * reading.
 * @returns how many were stored, and the ids of those that had been marked as gone
 */
export async function saveRecords(
  tx: Transaction<Tables>,
  records: readonly ServiceRecord[],
  reading: Reading,
): Promise<{ stored: number; back: string[] }> {
  const hashed = records.map((record) => ({ ...record, hash: hashOf(record.text) }))
  const followed = [...new Map(hashed.map((one) => [one.id, one])).values()].filter(({ id }) => id !== null)
  const changes = new Map((await noteRecords(tx, followed, reading)).map((one) => [one.id, one]))
  const rows = hashed.flatMap((one) => {
    const change = one.id === null ? undefined : changes.get(one.id)
    // If a page lists a record in two versions, one is followed. The other is stored, too.
    if (one.id !== null && followed.includes(one))
      return change?.isNew ? [rowOf(one, change.revision, reading)] : []
    return [rowOf(one, 1, reading)]
  })
  const distinct = [...new Map(rows.map((row) => [row.sourceKey, row])).values()]
  const stored = distinct.length === 0 ? 0 : (await appendInbox(tx, distinct)).size
  return { stored, back: [...changes.values()].filter(({ wasGone }) => wasGone).map(({ id }) => id) }
}

type HashedRecord = ServiceRecord & { hash: string }
type RecordRevision = { id: string; revision: number; isNew: boolean; wasGone: boolean }

/** Read by a process whose clock was ahead. The next reading need not wait until that time. */
const isReadAhead = sql`api_record.read_at > now() + interval '1 minute'`

/** In the order of the ids, so that two readings of the same records do not deadlock. */
async function noteRecords(
  tx: Transaction<Tables>,
  records: readonly HashedRecord[],
  { service, sentAt }: Reading,
): Promise<RecordRevision[]> {
  if (records.length === 0) return []
  const { rows } = await sql<RecordRevision>`
    insert into api_record (service_id, service, hash, revision, listed_at, read_at)
    select id, ${service}, hash, 1, time, ${sentAt}
    from ${asTable('incoming', records, 'id text, hash text, time timestamptz')} order by id
    on conflict (service_id) do update
      set hash = excluded.hash, revision = api_record.revision + (api_record.hash <> excluded.hash)::int,
        listed_at = excluded.listed_at, read_at = excluded.read_at, misses = 0, gone_at = null
      where api_record.read_at <= excluded.read_at or ${isReadAhead}
    returning new.service_id as id, new.revision, old.revision is distinct from new.revision as "isNew",
      old.gone_at is not null as "wasGone"`.execute(tx)
  return rows
}

/** With the hash in the key, each text is stored once. A record that returns to an earlier text is a new revision. */
function rowOf({ id, hash, text }: HashedRecord, revision: number, { service, receivedAt }: Reading) {
  // The id is for people, and may contain characters that Postgres cannot store.
  const key = `${(id ?? idAmongServices(service, 'unnamed')).replaceAll(/[^\x20-\x7e]/g, '?')}/${hash}`
  return {
    source: 'api' as const,
    service,
    sourceKey: revision > 1 ? `${key}/${revision}` : key,
    body: Buffer.from(text),
    headers: {},
    receivedAt,
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/**
 * Counts a miss for each record not read since a full reading began. Those older than `listedSince` need not be listed.
 */
export async function countMisses(
  tx: Transaction<Tables>,
  service: ServiceName,
  { startedAt, listedSince }: { startedAt: Date; listedSince: Date | null },
): Promise<void> {
  await sql`
    update api_record set misses = misses + 1
    where service = ${service} and read_at < ${startedAt} and gone_at is null
      and (${listedSince}::timestamptz is null or listed_at is null
        or listed_at >= ${listedSince})`.execute(tx)
}

/** In random order, so that unreadable records do not block others. */
export async function missedRecords(
  db: Kysely<Tables>,
  service: ServiceName,
  { missesMin, limit }: { missesMin: number; limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select service_id as id from api_record
    where service = ${service} and misses >= ${missesMin} and gone_at is null
    order by random() limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

export async function staleRecords(
  db: Kysely<Tables>,
  service: ServiceName,
  { readBefore, limit }: { readBefore: Date; limit: number },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    with open as materialized (
      select service_id from deposit
      where service = ${service} and state in ('observed', 'confirmed', 'settling', 'settled', 'held') and merged_into is null
    )
    select service_id as id from open join api_record using (service_id)
    where read_at < ${readBefore} and gone_at is null order by read_at limit ${limit}`.execute(db)
  return rows.map(({ id }) => id)
}

export type RemovedRecord = {
  id: string
  depositId: bigint | null
  network: string | null
  asset: string | null
  amount: string | null
  state: string | null
}

/**
 * Marks records that were requested at `askedAt`, not found, and missed before. A first miss is only counted: a single
 * answer may come from a service in trouble.
 * @returns the records that are gone from now on
 */
export async function markGone(
  tx: Transaction<Tables>,
  ids: readonly string[],
  askedAt: Date,
): Promise<RemovedRecord[]> {
  const { rows } = await sql<RemovedRecord>`
    with missed as (
      update api_record set misses = misses + 1, gone_at = case when misses > 0 then ${askedAt}::timestamptz end
      where service_id = any(${ids}::text[]) and gone_at is null and (read_at <= ${askedAt} or ${isReadAhead})
      returning service_id, gone_at
    )
    select m.service_id as id, d.id as "depositId", d.network, d.asset, d.amount::text, d.state
    from missed m left join deposit d on d.service_id = m.service_id and d.merged_into is null
    where m.gone_at is not null`.execute(tx)
  return rows
}

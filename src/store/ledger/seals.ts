import { type Kysely, sql } from 'kysely'
import type { ReadHashes, TreeHead } from '../../ledger/merkle-tree.ts'
import { type SealedTableName, sealedTable, sealedTableNames } from '../../ledger/sealed-tables.ts'
import { ageOf } from '../database.ts'
import type { Tables } from '../tables.ts'

/** Rows of one table that were added to the log together. */
export type Seal = {
  /** From 1, without a gap. */
  number: bigint
  table: SealedTableName
  /** It covers ids above `after`, up to `last`. Null for the first seal of a table. */
  after: bigint | null
  last: bigint
  /** Place in the log, from 0. */
  firstLeaf: number
  leaves: number
  /** 8 bytes per row. */
  ids: Buffer
  /** 32 bytes per row. */
  hashes: Buffer
}

export type SealMark = Pick<Seal, 'number' | 'firstLeaf' | 'leaves'>

const bytesOfHash = 32

export async function newestSeal(db: Kysely<Tables>): Promise<SealMark | null> {
  const { rows } = await sql<SealMark>`
    select number, first_leaf::float8 as "firstLeaf", leaves from seal
    order by seal.number desc limit 1`.execute(db)
  return rows[0] ?? null
}

export async function sealsAfter(db: Kysely<Tables>, number: bigint, limit: number): Promise<Seal[]> {
  const { rows } = await sql<Seal>`
    select number, sealed_table as "table", after_id as after, last_id as last, first_leaf::float8 as "firstLeaf",
      leaves, ids, hashes
    from seal where number > ${number} order by seal.number limit ${limit}`.execute(db)
  return rows
}

/** The last sealed id of a table; null if nothing of it is sealed. */
export async function lastSealed(db: Kysely<Tables>, table: SealedTableName): Promise<bigint | null> {
  const { rows } = await sql<{ last: bigint | null }>`
    select max(last_id) as last from seal where sealed_table = ${table}`.execute(db)
  return rows[0]?.last ?? null
}

/** Of a row that is sealed, its seal; null if its id is above all that is sealed. */
export async function sealOfRow(
  db: Kysely<Tables>,
  table: SealedTableName,
  id: bigint,
): Promise<Seal | null> {
  const { rows } = await sql<Seal>`
    select number, sealed_table as "table", after_id as after, last_id as last, first_leaf::float8 as "firstLeaf",
      leaves, ids, hashes
    from seal where sealed_table = ${table} and last_id >= ${id} order by last_id limit 1`.execute(db)
  return rows[0] ?? null
}

export async function marksOfSeal(db: Kysely<Tables>, number: bigint): Promise<Buffer> {
  const { rows } = await sql<{ marks: Buffer }>`select marks from seal where number = ${number}`.execute(db)
  return rows[0]?.marks ?? Buffer.of()
}

/** Of two processes that seal at the same time, one is refused. */
export async function insertSeal(db: Kysely<Tables>, seal: Seal & { marks: Buffer }): Promise<boolean> {
  const { number, table, after, last, firstLeaf, leaves, ids, hashes, marks } = seal
  // Without a conflict target: the other seal may share any of the keys.
  const { numAffectedRows } = await sql`
    insert into seal (number, sealed_table, after_id, last_id, first_leaf, leaves, ids, hashes, marks)
    values (${number}, ${table}, ${after}, ${last}, ${firstLeaf}, ${leaves}, ${ids}, ${hashes}, ${marks})
    on conflict do nothing`.execute(db)
  return numAffectedRows === 1n
}

/** Reads the leaves from the seals, and the nodes above them from `seal_node`. */
export function hashReader(db: Kysely<Tables>): ReadHashes {
  return async (height, first, count) =>
    height === 0 ? readLeaves(db, first, count) : readNodes(db, { height, first, count })
}

/** No seal has more leaves. */
export const leavesMax = 4096

async function readLeaves(db: Kysely<Tables>, first: number, count: number): Promise<Buffer[]> {
  const end = first + count
  const { rows } = await sql<{ hashes: Buffer }>`
    select substring(hashes
      from ((greatest(first_leaf, ${first}) - first_leaf) * ${bytesOfHash} + 1)::int
      for ((least(next_leaf, ${end}) - greatest(first_leaf, ${first})) * ${bytesOfHash})::int) as hashes
    from seal where first_leaf > ${first - leavesMax} and first_leaf < ${end} and next_leaf > ${first}
    order by first_leaf`.execute(db)
  return hashesIn(Buffer.concat(rows.map(({ hashes }) => hashes)))
}

async function readNodes(
  db: Kysely<Tables>,
  { height, first, count }: { height: number; first: number; count: number },
): Promise<Buffer[]> {
  const { rows } = await sql<{ hash: Buffer }>`
    select hash from seal_node where height = ${height} and place >= ${first} and place < ${first + count}
    order by place`.execute(db)
  return rows.map(({ hash }) => hash)
}

export function hashesIn(stored: Buffer): Buffer[] {
  return Array.from({ length: Math.floor(stored.length / bytesOfHash) }, (_none, place) =>
    stored.subarray(place * bytesOfHash, (place + 1) * bytesOfHash),
  )
}

export async function insertNode(
  db: Kysely<Tables>,
  { height, place, hash }: { height: number; place: number; hash: Buffer },
): Promise<void> {
  await sql`insert into seal_node (height, place, hash) values (${height}, ${place}, ${hash})`.execute(db)
}

/** `note` is the text that is published. */
export type StoredCheckpoint = TreeHead & { madeAt: Date; signedBy: string; note: string }

type ListedCheckpoint = Omit<StoredCheckpoint, 'root'> & { root: string }

export async function newestCheckpoint(db: Kysely<Tables>): Promise<StoredCheckpoint | null> {
  const { rows } = await sql<StoredCheckpoint>`
    select size::float8 as size, root, made_at as "madeAt", signed_by as "signedBy", note from checkpoint
    order by checkpoint.size desc, checkpoint.made_at desc limit 1`.execute(db)
  return rows[0] ?? null
}

/** The newest first, with the root in hexadecimal. */
export async function listCheckpoints(
  db: Kysely<Tables>,
  { limit, before = null }: { limit: number; before?: bigint | null },
): Promise<ListedCheckpoint[]> {
  const { rows } = await sql<ListedCheckpoint>`
    select distinct on (checkpoint.size) size::float8 as size, encode(root, 'hex') as root, made_at as "madeAt",
      signed_by as "signedBy", note
    from checkpoint where ${before}::bigint is null or checkpoint.size < ${before}::bigint
    order by checkpoint.size desc, checkpoint.made_at desc limit ${limit}`.execute(db)
  return rows
}

/** With a size above `after`, up to `to`, in order; pages start after a checkpoint. */
export async function checkpointsAfter(
  db: Kysely<Tables>,
  after: Pick<StoredCheckpoint, 'size' | 'signedBy'>,
  { to = Number.MAX_SAFE_INTEGER, limit }: { to?: number; limit: number },
): Promise<StoredCheckpoint[]> {
  const { rows } = await sql<StoredCheckpoint>`
    select size::float8 as size, root, made_at as "madeAt", signed_by as "signedBy",
      note || case when signed_by = 'unsigned' then '' else coalesce((
        select string_agg(lines, '' order by witness) from cosignature c where c.size = checkpoint.size), '') end as note
    from checkpoint
    where (checkpoint.size, checkpoint.signed_by) > (${after.size}, ${after.signedBy}) and checkpoint.size <= ${to}
    order by checkpoint.size, checkpoint.signed_by limit ${limit}`.execute(db)
  return rows
}

/** Before all checkpoints of greater sizes, and after those of this size. */
export function afterSize(size: number): Pick<StoredCheckpoint, 'size' | 'signedBy'> {
  return { size: size + 1, signedBy: '' }
}

export async function insertCheckpoint(
  db: Kysely<Tables>,
  { size, signedBy, root, note }: Omit<StoredCheckpoint, 'madeAt'>,
): Promise<void> {
  await sql`
    with made as (
      insert into checkpoint (size, signed_by, root, note) values (${size}, ${signedBy}, ${root}, ${note})
      on conflict do nothing returning *
    )
    insert into event_pending (type, data)
    select 'seal.published', jsonb_build_object('size', size::text, 'root', encode(root, 'hex'), 'signed_by', signed_by)
    from made`.execute(db)
}

/** The greatest size that a witness confirmed; 0 if there is none. */
export async function sizeCosigned(db: Kysely<Tables>, witness: string): Promise<number> {
  const { rows } = await sql<{ size: number }>`
    select coalesce(max(size), 0)::float8 as size from cosignature where witness = ${witness}`.execute(db)
  return rows[0]?.size ?? 0
}

export async function insertCosignature(
  db: Kysely<Tables>,
  { size, witness, lines }: { size: number; witness: string; lines: string },
): Promise<void> {
  await sql`
    insert into cosignature (size, witness, lines) values (${size}, ${witness}, ${lines})
    on conflict do nothing`.execute(db)
}

/** Rows that are not sealed yet, of the tables that the login may read. */
export async function countUnsealed(db: Kysely<Tables>, tables: readonly SealedTableName[]): Promise<number> {
  const counts = tables.map(
    (table) => sql`(select count(*) from ${sql.table(table)} where ${unsealed(table)})`,
  )
  const { rows } = await sql<{ count: number }>`
    select (${sql.join([sql`0`, ...counts], sql` + `)})::float8 as count`.execute(db)
  return rows[0]?.count ?? 0
}

/** How long the oldest row has waited to be sealed, in seconds; 0 if all rows are sealed. */
export async function secondsUnsealed(db: Kysely<Tables>): Promise<number> {
  const ages = sealedTableNames.map((table) => {
    const { id, writtenAt } = sealedTable(table)
    return sql`(
      select ${ageOf(sql.ref(writtenAt))} from ${sql.table(table)} where ${unsealed(table)}
      order by ${sql.ref(id)} limit 1)`
  })
  const { rows } = await sql<{ age: number }>`
    select greatest(${sql.join([sql`0`, ...ages])})::float8 as age`.execute(db)
  return rows[0]?.age ?? 0
}

function unsealed(table: SealedTableName) {
  const { id } = sealedTable(table)
  return sql<boolean>`${sql.ref(id)} >
    (select coalesce(max(last_id), -9223372036854775808) from seal where sealed_table = ${table})`
}

/** By id or posting key. */
export async function journalNamed(db: Kysely<Tables>, name: string): Promise<bigint | null> {
  const isNumber = /^-?\d{1,18}$/.test(name)
  const { rows } = await sql<{ id: bigint }>`
    select id from ledger_journal
    where ${isNumber ? sql`id = ${name}::bigint` : sql`posting_key = ${name}`}`.execute(db)
  return rows[0]?.id ?? null
}

import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { Seal } from '../../ledger/seals/seal.ts'
import type { Tables } from '../tables.ts'

/** Seals after a number, in order. */
export async function sealsAfter(db: Kysely<Tables>, number: string, limit: number): Promise<Seal[]> {
  const { rows } = await sql<Seal>`
    select ${columns} from ledger_seal where number > ${number} order by ledger_seal.number limit ${limit}`.execute(
    db,
  )
  return rows
}

/** The newest first. */
export async function newestSeals(
  db: Kysely<Tables>,
  { limit, before = null }: { limit: number; before?: bigint | null },
): Promise<Seal[]> {
  const { rows } = await sql<Seal>`
    select ${columns} from ledger_seal where ${before}::bigint is null or ledger_seal.number < ${before}::bigint
    order by ledger_seal.number desc limit ${limit}`.execute(db)
  return rows
}

/** The seal whose range contains a journal. */
export async function sealOfJournal(db: Kysely<Tables>, journal: bigint): Promise<Seal | null> {
  const { rows } = await sql<Seal>`
    select ${columns} from ledger_seal where last_journal >= ${journal} order by last_journal limit 1`.execute(
    db,
  )
  return rows[0] ?? null
}

const times = { sealedAt: timeText(sql.ref('sealed_at')) }

const columns = sql`number::text as number, after_journal::text as after, last_journal::text as last,
  journals::text as journals, root, previous, ${times.sealedAt} as "sealedAt", hash`

/** The id and leaf of each journal of a seal; null if the seal does not exist. */
export async function leavesOfSeal(db: Kysely<Tables>, number: string): Promise<Buffer | null> {
  const { rows } = await sql<{ leaves: Buffer }>`
    select leaves from ledger_seal where number = ${number}::bigint`.execute(db)
  return rows[0]?.leaves ?? null
}

/** Whether the seal was stored. If another process stored one at the same time, that one stays. */
export async function insertSeal(db: Kysely<Tables>, seal: Seal, leaves: Buffer): Promise<boolean> {
  const { number, after, last, journals, root, previous, sealedAt, hash } = seal
  // Without a conflict target: the other seal may share any of the keys with this one.
  const { numAffectedRows } = await sql`
    insert into ledger_seal (number, after_journal, last_journal, journals, root, previous, sealed_at, hash, leaves)
    values (${number}, ${after}, ${last}, ${journals}, ${root}, ${previous}, ${sealedAt}, ${hash}, ${leaves})
    on conflict do nothing`.execute(db)
  return numAffectedRows === 1n
}

/** Number of journals after the last seal. */
export async function countUnsealed(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::float8 as count from ledger_journal
    where id > (select coalesce(max(last_journal), 0) from ledger_seal)`.execute(db)
  return rows[0]?.count ?? 0
}

/** How long the oldest unsealed journal has waited, in seconds; 0 if there is none. */
export async function secondsUnsealed(db: Kysely<Tables>): Promise<number> {
  const { rows } = await sql<{ age: number }>`
    select greatest(extract(epoch from now() - recorded_at), 0)::float8 as age from ledger_journal
    where id > (select coalesce(max(last_journal), 0) from ledger_seal) order by id limit 1`.execute(db)
  return rows[0]?.age ?? 0
}

/**
 * A time as text, independent of the session's settings: to the microsecond, in UTC. A time outside the years 1 to 9999
 * is written as seconds since 1970, so that no two times have the same text.
 */
export function timeText(time: RawBuilder<unknown>): RawBuilder<string> {
  return sql`case when ${time} >= '0001-01-01 00:00:00+00' and ${time} < '10000-01-01 00:00:00+00'
    then to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    else extract(epoch from ${time})::text end`
}

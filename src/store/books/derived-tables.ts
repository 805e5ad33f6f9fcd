import { sql, type Transaction } from 'kysely'
import { type BatchLimits, type PendingRow, readWithin } from '../inbox.ts'
import type { Tables } from '../tables.ts'

/** Tables that are derived from the evidence, and all others that applying evidence writes to. */
const derivedTables = [
  'evidence_group',
  'link_key',
  'evidence',
  'deposit',
  'mismatch',
  'mismatch_event',
  'ledger_account',
  'ledger_journal',
  'ledger_transfer',
] as const satisfies readonly (keyof Tables)[]

/**
 * For the rest of this transaction, these names refer to its own empty tables, which are dropped at its end. Postgres
 * rejects writes to any other table. The hidden tables are in the schema `public`.
 */
export async function hideDerivedTables(tx: Transaction<Tables>): Promise<void> {
  // The temporary schema is searched first unless the session's search path places it elsewhere.
  const tables = derivedTables.map(
    (name) => `create temp table ${name} (like public.${name} including all) on commit drop`,
  )
  const settings = ['set local search_path to pg_temp, public', "set local time zone 'UTC'"]
  await sql.raw([...settings, ...tables, 'set transaction read only'].join('; ')).execute(tx)
}

/** Autovacuum does not analyze tables of one transaction, and a plan for empty tables is a bad plan for full ones. */
export async function analyzeDerivedTables(tx: Transaction<Tables>): Promise<void> {
  await sql.raw(`analyze ${derivedTables.join(', ')}`).execute(tx)
}

/** Numbers of inbox rows that are applied and pending. */
export async function countApplied(tx: Transaction<Tables>): Promise<{ applied: number; pending: number }> {
  const { rows } = await sql<{ applied: number; pending: number }>`
    select (select count(*) from inbox)::float8 - pending as applied, pending
    from (select count(*)::float8 as pending from inbox_pending) as waiting`.execute(tx)
  return rows[0] ?? { applied: 0, pending: 0 }
}

/** The next applied rows after an id. */
export function nextApplied(
  tx: Transaction<Tables>,
  after: bigint,
  { rowsMax, bytesMax }: BatchLimits,
): Promise<PendingRow[]> {
  return readWithin(
    tx,
    sql`select id from inbox where id > ${after} and not exists (select from inbox_pending where inbox_id = id)
      order by id limit ${rowsMax}`,
    bytesMax,
  )
}

/** Number of groups that hold evidence. */
export async function countGroups(tx: Transaction<Tables>): Promise<number> {
  const { rows } = await sql<{
    count: number
  }>`select count(distinct group_id)::float8 as count from evidence`.execute(tx)
  return rows[0]?.count ?? 0
}

/** The next groups after an id that hold evidence. */
export async function nextGroups(
  tx: Transaction<Tables>,
  after: bigint,
  groupsMax: number,
): Promise<bigint[]> {
  const { rows } = await sql<{ group_id: bigint }>`
    select distinct group_id from evidence where group_id > ${after} order by group_id limit ${groupsMax}`.execute(
    tx,
  )
  return rows.map(({ group_id }) => group_id)
}

import { sql, type Transaction } from 'kysely'
import { type BatchLimits, type PendingRow, readWithin } from '../inbox.ts'
import type { Tables } from '../tables.ts'

/** What is made from the evidence, and all else that applying it writes to. */
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
 * From here on these names are, in this transaction, empty tables of its own, which end with it; Postgres refuses it to
 * write to any other. The tables that they hide are in the schema `public`.
 */
export async function hideDerivedTables(tx: Transaction<Tables>): Promise<void> {
  // The temporary schema is searched first, unless the path of the session places it elsewhere.
  const tables = derivedTables.map(
    (name) => `create temp table ${name} (like public.${name} including all) on commit drop`,
  )
  const settings = ['set local search_path to pg_temp, public', "set local time zone 'UTC'"]
  await sql.raw([...settings, ...tables, 'set transaction read only'].join('; ')).execute(tx)
}

/** Nothing does this by itself for tables of one transaction, and a plan for empty ones is a bad plan for full ones. */
export async function analyzeDerivedTables(tx: Transaction<Tables>): Promise<void> {
  await sql.raw(`analyze ${derivedTables.join(', ')}`).execute(tx)
}

/** How many inbox rows were applied, and how many wait for it. */
export async function countApplied(tx: Transaction<Tables>): Promise<{ applied: number; pending: number }> {
  const { rows } = await sql<{ applied: number; pending: number }>`
    select (select count(*) from inbox)::float8 - pending as applied, pending
    from (select count(*)::float8 as pending from inbox_pending) as waiting`.execute(tx)
  return rows[0] ?? { applied: 0, pending: 0 }
}

/** The next rows behind one that were applied. */
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

/** How many groups hold evidence. */
export async function countGroups(tx: Transaction<Tables>): Promise<number> {
  const { rows } = await sql<{
    count: number
  }>`select count(distinct group_id)::float8 as count from evidence`.execute(tx)
  return rows[0]?.count ?? 0
}

/** The next groups behind one that hold evidence. */
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

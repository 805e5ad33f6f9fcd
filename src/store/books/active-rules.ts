import { type Kysely, sql } from 'kysely'
import { readCursor } from '../streams.ts'
import type { Tables } from '../tables.ts'

/** The active rules, and whether all groups decided by earlier rules are marked for a recheck. */
export type ActiveRules = { digest: string; isApplied: boolean }

/** Stored as the cursor of a stream without leases. */
const stream = 'policy'

/** Null before any rules were activated. In a transaction, they cannot change until the transaction ends. */
export async function activeRules(db: Kysely<Tables>): Promise<ActiveRules | null> {
  return (await readCursor(db, stream)) as ActiveRules | null
}

export async function saveActiveRules(db: Kysely<Tables>, rules: ActiveRules): Promise<void> {
  await sql`
    insert into stream (name, cursor) values (${stream}, ${JSON.stringify(rules)}::jsonb)
    on conflict (name) do update set cursor = excluded.cursor`.execute(db)
}

/** @returns false if other rules were activated in the meantime; another process applies those */
export async function keepApplied(db: Kysely<Tables>, digest: string): Promise<boolean> {
  const rules: ActiveRules = { digest, isApplied: true }
  const { numAffectedRows } = await sql`
    update stream set cursor = ${JSON.stringify(rules)}::jsonb
    where name = ${stream} and cursor ->> 'digest' = ${digest}`.execute(db)
  return numAffectedRows === 1n
}

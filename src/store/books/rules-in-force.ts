import { type Kysely, sql } from 'kysely'
import { readCursor } from '../streams.ts'
import type { Tables } from '../tables.ts'

/** By which rules everything is decided, and whether all that was decided by others is marked. */
export type InForce = { digest: string; isApplied: boolean }

/** Kept as the cursor of a stream that nobody leases. */
const stream = 'policy'

/** Null before any rules were in force. In a transaction, they stay as they are until that ends. */
export async function inForce(db: Kysely<Tables>): Promise<InForce | null> {
  return (await readCursor(db, stream)) as InForce | null
}

export async function keepInForce(db: Kysely<Tables>, rules: InForce): Promise<void> {
  await sql`
    insert into stream (name, cursor) values (${stream}, ${JSON.stringify(rules)}::jsonb)
    on conflict (name) do update set cursor = excluded.cursor`.execute(db)
}

/** @returns false where other rules were put in force meanwhile, which somebody else applies */
export async function keepApplied(db: Kysely<Tables>, digest: string): Promise<boolean> {
  const rules: InForce = { digest, isApplied: true }
  const { numAffectedRows } = await sql`
    update stream set cursor = ${JSON.stringify(rules)}::jsonb
    where name = ${stream} and cursor ->> 'digest' = ${digest}`.execute(db)
  return numAffectedRows === 1n
}

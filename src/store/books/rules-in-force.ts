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

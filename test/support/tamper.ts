import { sql } from 'kysely'
import { inTransaction, openDatabase } from '../../src/store/database.ts'
import type { Tables } from '../../src/store/tables.ts'

/** Does to a database what its triggers and keys refuse to everybody but the owner of the server. */
export async function tamper({ url }: { url: string }, ...statements: string[]): Promise<void> {
  const owner = openDatabase<Tables>({ url, poolMax: 1, applicationName: 'test owner' })
  await inTransaction(owner, async (tx) => {
    await sql`set local session_replication_role = replica`.execute(tx)
    for (const statement of statements) await sql.raw(statement).execute(tx)
  })
  await owner.destroy()
}

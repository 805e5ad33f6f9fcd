import { sql } from 'kysely'
import type { World } from './world.ts'

/**
 * True once every payment is reconciled and its webhooks confirm both legs; else null. No state waits for a webhook, so
 * its row may be applied after the deposit is reconciled.
 */
export async function allReconciled({ db }: Pick<World, 'db'>, txs: readonly string[]): Promise<true | null> {
  const confirmed = { deposit: { webhook: 'agrees' }, settlement: { webhook: 'agrees' } }
  const { rows } = await sql`
    select from deposit where tx = any(${txs}::text[]) and state = 'reconciled'
      and matrix @> ${JSON.stringify(confirmed)}::jsonb`.execute(db)
  return rows.length === txs.length || null
}

import { type Kysely, sql } from 'kysely'
import { assetsIn, type NamedAssets } from '../assets.ts'
import type { Tables } from '../tables.ts'

export type ShownMismatch = {
  /** As `accounting.mismatches` has it. */
  mismatch: Record<string, unknown> & {
    kind: string
    severity: string
    subject: string
    status: string
    detail: Record<string, string>
    loss_asset: string | null
    assets: NamedAssets
  }
  /** The deposit that it is about, in a few words. */
  deposit: { id: string; state: string; owner: string; amount: string } | null
  history: {
    at: Date
    actor: string
    action: string
    text: string | null
    approved_by: string | null
    before: Record<string, unknown> | null
    after: Record<string, unknown> | null
  }[]
}

/** All about one mismatch. */
export async function showMismatch(db: Kysely<Tables>, id: bigint): Promise<ShownMismatch | null> {
  const [mismatches, deposits, history] = await Promise.all([
    sql<ShownMismatch['mismatch']>`
      select m.*, id::text as id, deposit_id::text as deposit_id, date_trunc('second', age)::text as age,
        ${assetsIn(sql`concat_ws(' ', m.detail::text, m.loss_asset)`)} as assets
      from accounting.mismatches m where id = ${id}`.execute(db),
    sql<NonNullable<ShownMismatch['deposit']>>`
      select d.id::text as id, d.state, concat_ws(' ', d.owner_kind, d.owner_id) as owner,
        concat_ws(' ', d.amount::text, d.asset_symbol, 'on ' || d.network) as amount
      from deposit_report d where d.id = (
        select coalesce(merged_into, id) from deposit where id = (select deposit_id from mismatch where id = ${id})
      )`.execute(db),
    sql<ShownMismatch['history'][number]>`
      select at, actor, action, text, approved_by, before, after from accounting.mismatch_history
      where mismatch_id = ${id} order by at, action = 'cleared'`.execute(db),
  ])
  const mismatch = mismatches.rows[0]
  return mismatch === undefined
    ? null
    : { mismatch, deposit: deposits.rows[0] ?? null, history: history.rows }
}

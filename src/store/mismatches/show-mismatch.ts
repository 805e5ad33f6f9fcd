import { type Kysely, sql } from 'kysely'
import { assetsIn, type NamedAssets } from '../assets.ts'
import type { Tables } from '../tables.ts'

export type ShownMismatch = {
  /** Columns as in `accounting.mismatches`. */
  mismatch: Record<string, unknown> & {
    kind: string
    severity: string
    subject: string
    status: string
    detail: Record<string, string>
    network: string | null
    asset: string | null
    loss_asset: string | null
    /** Assets that it names, now or in its history. */
    assets: NamedAssets
  }
  /** Summary of the deposit concerned. */
  deposit: {
    id: string
    state: string
    owner: string
    amount: string | null
    amount_base: string | null
    asset_symbol: string | null
    asset: string | null
    network: string | null
  } | null
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

/** Everything about one mismatch. */
export async function showMismatch(db: Kysely<Tables>, id: bigint): Promise<ShownMismatch | null> {
  const [mismatches, deposits, history] = await Promise.all([
    sql<ShownMismatch['mismatch']>`
      select m.*, id::text as id, deposit_id::text as deposit_id, date_trunc('second', age)::text as age,
        ${assetsIn(sql`concat_ws(' ', m.detail::text, m.loss_asset, m.asset,
          (select string_agg(concat(e.before, e.after), ' ') from mismatch_event e where e.mismatch_id = m.id))`)} as assets
      from accounting.mismatches m where id = ${id}`.execute(db),
    sql<NonNullable<ShownMismatch['deposit']>>`
      select d.id::text as id, d.state, concat_ws(' ', d.owner_kind, d.owner_id) as owner,
        d.amount::text as amount, d.amount_base::text as amount_base, d.asset_symbol, d.asset, d.network
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

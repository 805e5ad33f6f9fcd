import { type Kysely, sql } from 'kysely'
import { assetsIn } from '../assets.ts'
import type { DepositReport } from '../books/show-deposit.ts'
import type { Tables } from '../tables.ts'

/** Mismatches of these deposits that were not cleared at a time, with the decisions that people had made by then. */
export async function mismatchesAt(
  db: Kysely<Tables>,
  depositIds: readonly bigint[],
  at: Date,
): Promise<DepositReport['mismatches']> {
  // To the millisecond, which is the precision that people see.
  const by = (column: string) => sql`date_trunc('milliseconds', ${sql.ref(column)}) <= ${at}`
  const { rows } = await sql<DepositReport['mismatches'][number]>`
    select m.id::text as id, m.kind, m.severity, m.opened_at, null as cleared_at, m.detail, m.loss_asset,
      accounting.in_units(m.loss_amount, l.decimals)::text as loss, m.loss_amount::text as loss_base, l.symbol as loss_asset_symbol,
      ${assetsIn(sql`concat_ws(' ', m.detail::text, m.loss_asset)`)} as assets, coalesce((
      select case e.action when 'resolved' then 'resolved'
        when 'snoozed' then case when (e.after ->> 'snoozed_until')::timestamptz > ${at} then 'snoozed' end end
      from mismatch_event e
      where e.mismatch_id = m.id and e.action in ('snoozed', 'resolved', 'reopened') and ${by('e.at')}
      order by e.id desc limit 1
    ), 'open') as status
    from mismatch m left join asset l on l.key = m.loss_asset
    where m.deposit_id = any(${depositIds}::bigint[]) and ${by('m.opened_at')}
      and (m.cleared_at is null or not ${by('m.cleared_at')})
    order by m.id`.execute(db)
  return rows
}

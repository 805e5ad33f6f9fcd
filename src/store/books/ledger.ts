import { sql, type Transaction } from 'kysely'
import type { Journal } from '../../core/posting.ts'
import type { Tables } from '../tables.ts'

export type NumberedDepositJournal = Journal & { depositId: bigint }

/** A journal booked by a person belongs to no deposit and no payment. */
export type ManualJournal = Omit<Journal, 'kind' | 'depositId' | 'transfer'> & {
  kind: 'manual' | 'reversal'
  depositId: null
  transfer: null
}

/**
 * Books all journals or none. Postgres rejects the transaction if a posting key is already booked, so nothing is booked
 * twice. Manual journals are adjustments, and are also booked into a soft-closed month.
 */
export async function bookJournals(
  tx: Transaction<Tables>,
  journals: readonly (NumberedDepositJournal | ManualJournal)[],
): Promise<void> {
  if (journals.length === 0) return
  await openAccounts(tx, journals)
  await insertJournals(tx, journals)
}

async function openAccounts(
  tx: Transaction<Tables>,
  journals: readonly Pick<Journal, 'transfers'>[],
): Promise<void> {
  const sides = journals.flatMap(({ transfers }) =>
    transfers.flatMap(({ debit, credit, asset }) => [
      { id: debit, asset },
      { id: credit, asset },
    ]),
  )
  // The order makes two bookings that open the same accounts wait for each other instead of deadlocking.
  await sql`
    insert into ledger_account (id, asset)
    select distinct id, asset
    from unnest(${sides.map(({ id }) => id)}::text[], ${sides.map(({ asset }) => asset)}::text[]) as side (id, asset)
    order by id, asset
    on conflict (id, asset) do nothing`.execute(tx)
}

/** Transfers take the times and the period of their journal inside Postgres; these never pass through the process. */
async function insertJournals(
  tx: Transaction<Tables>,
  journals: readonly (NumberedDepositJournal | ManualJournal)[],
): Promise<void> {
  const lines = journals.flatMap(({ key, transfers }) =>
    transfers.map((transfer, place) => ({ ...transfer, key, leg: place + 1 })),
  )
  await sql`
    with journal as (
      insert into ledger_journal (posting_key, kind, deposit_id, transfer, reverses, event_at, period)
      select new.key, new.kind, new.deposit_id, new.transfer, original.id, new.event_at,
        ledger_period_for(
          greatest(new.event_at, original.period::timestamp at time zone 'UTC'),
          new.deposit_id is null and new.kind in ('manual', 'reversal')
        )
      from unnest(
        ${journals.map(({ key }) => key)}::text[], ${journals.map(({ kind }) => kind)}::text[],
        ${journals.map(({ depositId }) => depositId)}::bigint[], ${journals.map(({ transfer }) => transfer)}::text[],
        ${journals.map(({ reverses }) => reverses)}::text[], ${journals.map(({ eventAt }) => eventAt)}::timestamptz[]
      ) with ordinality as new (key, kind, deposit_id, transfer, reverses, event_at, place)
        left join ledger_journal original on original.posting_key = new.reverses
      order by new.place
      returning id, posting_key, event_at, recorded_at, period
    )
    insert into ledger_transfer
      (journal_id, leg, debit, credit, asset, amount, event_at, recorded_at, period)
    select journal.id, line.leg, line.debit, line.credit, line.asset, line.amount,
      journal.event_at, journal.recorded_at, journal.period
    from unnest(
      ${lines.map(({ key }) => key)}::text[], ${lines.map(({ leg }) => leg)}::smallint[],
      ${lines.map(({ debit }) => debit)}::text[], ${lines.map(({ credit }) => credit)}::text[],
      ${lines.map(({ asset }) => asset)}::text[], ${lines.map(({ amount }) => amount.toString())}::numeric[]
    ) with ordinality as line (key, leg, debit, credit, asset, amount, place)
      join journal on journal.posting_key = line.key
    order by line.place`.execute(tx)
}

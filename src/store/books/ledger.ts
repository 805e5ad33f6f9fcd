import { sql, type Transaction } from 'kysely'
import { assert } from '../../core/errors.ts'
import type { Journal } from '../../core/posting.ts'
import type { Tables } from '../tables.ts'

export type DepositJournal = Journal & { depositId: bigint }

/**
 * Books the journals, whole or not at all. A posting key that is booked already makes Postgres refuse the
 * transaction, so nothing is booked twice.
 */
export async function bookJournals(
  tx: Transaction<Tables>,
  journals: readonly DepositJournal[],
): Promise<void> {
  if (journals.length === 0) return
  await openAccounts(tx, journals)
  const idOfKey = await insertJournals(tx, journals)
  const transfers = journals.flatMap((journal) =>
    journal.transfers.map((transfer, place) => ({
      ...transfer,
      journalId: idOfKey.get(journal.key),
      leg: place + 1,
    })),
  )
  assert(
    transfers.every(({ journalId }) => journalId !== undefined),
    'every transfer has its journal',
  )
  await sql`
    insert into ledger_transfer (journal_id, leg, debit, credit, asset, amount)
    select * from unnest(
      ${transfers.map(({ journalId }) => journalId)}::bigint[], ${transfers.map(({ leg }) => leg)}::smallint[],
      ${transfers.map(({ debit }) => debit)}::text[], ${transfers.map(({ credit }) => credit)}::text[],
      ${transfers.map(({ asset }) => asset)}::text[], ${transfers.map(({ amount }) => amount.toString())}::numeric[]
    )`.execute(tx)
}

async function openAccounts(tx: Transaction<Tables>, journals: readonly Journal[]): Promise<void> {
  const sides = journals.flatMap(({ transfers }) =>
    transfers.flatMap(({ debit, credit, asset }) => [
      { id: debit, asset },
      { id: credit, asset },
    ]),
  )
  // In order, so that two bookings which open the same accounts wait for each other instead of deadlocking.
  await sql`
    insert into ledger_account (id, asset)
    select distinct id, asset
    from unnest(${sides.map(({ id }) => id)}::text[], ${sides.map(({ asset }) => asset)}::text[]) as side (id, asset)
    order by id, asset
    on conflict (id, asset) do nothing`.execute(tx)
}

async function insertJournals(tx: Transaction<Tables>, journals: readonly DepositJournal[]) {
  const { rows } = await sql<{ id: bigint; posting_key: string }>`
    insert into ledger_journal (posting_key, kind, deposit_id, transfer, reverses, event_at)
    select new.key, new.kind, new.deposit_id, new.transfer, original.id, new.event_at
    from unnest(
      ${journals.map(({ key }) => key)}::text[], ${journals.map(({ kind }) => kind)}::text[],
      ${journals.map(({ depositId }) => depositId)}::bigint[], ${journals.map(({ transfer }) => transfer)}::text[],
      ${journals.map(({ reverses }) => reverses)}::text[], ${journals.map(({ eventAt }) => eventAt)}::timestamptz[]
    ) with ordinality as new (key, kind, deposit_id, transfer, reverses, event_at, place)
      left join ledger_journal original on original.posting_key = new.reverses
    order by new.place
    returning id, posting_key`.execute(tx)
  return new Map(rows.map(({ id, posting_key }) => [posting_key, id]))
}

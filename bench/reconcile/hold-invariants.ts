import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../src/store/tables.ts'

type Counts = {
  deposits: number
  others: number
  journals: number
  unbalanced: number
  pending: number
  open: number
}

/** Of a deposit that is paid, converted and delivered. */
export const journalsOfDeposit = 3

/**
 * Holds the books against what they must be once a backlog is applied.
 * @throws where they are not: what was measured does not count then.
 */
export async function holdInvariants(db: Kysely<Tables>, arm: string, deposits: number): Promise<void> {
  const { rows } = await sql<Counts>`
    select count(*) filter (where state = 'reconciled')::int as deposits,
      count(*) filter (where state <> 'reconciled')::int as others,
      (select count(*) from ledger_journal where kind <> 'reversal' and id not in
        (select reverses from ledger_journal where reverses is not null))::int as journals,
      (select count(*) from (select from ledger_entry group by asset having sum(amount) <> 0) as assets)::int
        + (select count(*) from ledger_balance where account like 'assets:in_transit:%' and balance <> 0)::int
        as unbalanced,
      (select count(*) from inbox_pending)::int as pending,
      (select count(*) from mismatch where cleared_at is null)::int as open
    from deposit where merged_into is null`.execute(db)
  const expected: Counts = {
    deposits,
    others: 0,
    journals: journalsOfDeposit * deposits,
    unbalanced: 0,
    pending: 0,
    open: 0,
  }
  const found = JSON.stringify(rows[0])
  if (found !== JSON.stringify(expected))
    throw new Error(`${arm} left ${found} instead of ${JSON.stringify(expected)}`)
}

export async function countOf(
  db: Kysely<Tables>,
  table: 'inbox_pending' | 'ledger_journal',
): Promise<number> {
  const { rows } = await sql<{
    count: number
  }>`select count(*)::int as count from ${sql.table(table)}`.execute(db)
  return rows[0]?.count ?? 0
}

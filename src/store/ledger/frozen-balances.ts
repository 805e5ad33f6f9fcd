import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { FrozenBalanceLine } from '../../ledger/frozen-balance.ts'
import type { Period } from '../../ledger/period.ts'
import type { Tables } from '../tables.ts'

/** A final close of a month, whether or not the month was reopened. */
export type PeriodClose = { id: bigint; period: Period; at: Date; sha256: string }

export async function closingsOf(db: Kysely<Tables>): Promise<PeriodClose[]> {
  const { rows } = await sql<PeriodClose>`
    select id, to_char(period, 'YYYY-MM') as period, at, sha256 from ledger_period_event
    where action = 'closed' order by id`.execute(db)
  return rows
}

type DebitCreditSums = Pick<FrozenBalanceLine, 'debit' | 'credit'>

/** A line of a close as frozen, and as summed from the journals up to the close; null on the side that lacks it. */
export type FrozenBesideMade = Pick<FrozenBalanceLine, 'account' | 'asset'> & {
  closingId: bigint
  frozen: DebitCreditSums | null
  made: DebitCreditSums | null
}

type FrozenBalanceRow = Pick<FrozenBesideMade, 'closingId' | 'account' | 'asset'> &
  Record<'frozenDebit' | 'frozenCredit' | 'madeDebit' | 'madeCredit', string | null>

/**
 * The lines of all closes in sequence, each close in the order in which its lines are hashed. Reads the transfers once
 * for all closes: sums them by month and by number of earlier closes.
 */
export async function* frozenBesideMade(tx: Transaction<Tables>): AsyncGenerator<FrozenBesideMade[]> {
  const query = sql<FrozenBalanceRow>`
    with closing as materialized (
      select id, period, rank() over (order by last_journal) - 1 as place, last_journal
      from ledger_period_event where action = 'closed'
    ), moved as materialized (
      select period, place, account, asset, sum(debited) as debit, sum(credited) as credit
      from (
        select period, width_bucket(journal_id, (select array_agg(last_journal + 1 order by last_journal) from closing)) as place,
          debit, credit, asset, sum(amount) as amount
        from ledger_transfer where exists (select from closing)
        group by 1, 2, 3, 4, 5
      ) as pair cross join lateral (values (debit, amount, 0), (credit, 0, amount)) as side (account, debited, credited)
      group by 1, 2, 3, 4
    ), made as (
      select c.id as event_id, account, asset, sum(debit) as debit, sum(credit) as credit
      from closing c join moved m on m.period <= c.period and m.place <= c.place
      group by 1, 2, 3
    )
    select event_id as "closingId", account, asset, frozen.debit::text as "frozenDebit",
      frozen.credit::text as "frozenCredit", made.debit::text as "madeDebit", made.credit::text as "madeCredit"
    from ledger_period_balance frozen full join made using (event_id, account, asset)
    order by event_id, account collate "C", asset collate "C"`
  for await (const rows of inPieces(tx, query)) yield rows.map(lineOf)
}

function lineOf({
  frozenDebit,
  frozenCredit,
  madeDebit,
  madeCredit,
  ...row
}: FrozenBalanceRow): FrozenBesideMade {
  return { ...row, frozen: sidesOf(frozenDebit, frozenCredit), made: sidesOf(madeDebit, madeCredit) }
}

function sidesOf(debit: string | null, credit: string | null): DebitCreditSums | null {
  return debit === null || credit === null ? null : { debit: BigInt(debit), credit: BigInt(credit) }
}

const rowsOfPiece = 2000

async function* inPieces(
  tx: Transaction<Tables>,
  query: RawBuilder<FrozenBalanceRow>,
): AsyncGenerator<FrozenBalanceRow[]> {
  await sql`declare frozen_balance no scroll cursor for ${query}`.execute(tx)
  for (;;) {
    const { rows } = await sql<FrozenBalanceRow>`fetch ${sql.lit(rowsOfPiece)} from frozen_balance`.execute(
      tx,
    )
    if (rows.length === 0) break
    yield rows
  }
  await sql`close frozen_balance`.execute(tx)
}

/** Closed months that contain journals from after the close: the number of journals, and the first one. */
export async function findIntruders(
  db: Kysely<Tables>,
): Promise<{ period: string; journals: bigint; first: bigint }[]> {
  const { rows } = await sql<{ period: string; journals: bigint; first: bigint }>`
    with standing as materialized (
      select period, last_journal from ledger_period_event e
      where action = 'closed' and not exists (
        select from ledger_period_event r where r.period = e.period and r.action = 'reopened' and r.id > e.id
      )
    )
    select to_char(s.period, 'YYYY-MM') as period, count(*) as journals, min(j.id) as first
    from ledger_journal j
      join standing s on s.period = greatest(j.period, (select min(period) from standing)) and j.id > s.last_journal
    group by s.period order by s.period`.execute(db)
  return rows
}

import { type Kysely, sql } from 'kysely'
import type { Lot } from '../../ledger/lots.ts'
import type { Tables } from '../tables.ts'
import type { Valuation } from './prices.ts'

/** By which each journal was valued; journals without values are missing. */
export async function ruleOfEach(
  db: Kysely<Tables>,
  journals: readonly bigint[],
): Promise<Map<bigint, NonNullable<Valuation>>> {
  const { rows } = await sql<NonNullable<Valuation> & { journal: bigint }>`
    select v.journal_id as journal, rule.id, v.currency, (extract(epoch from rule.max_age) * 1000)::float8 as "maxAgeMs",
      rule.own_accounts as own, rule.method, rule.pool
    from valued_journal v join valuation_rule rule on rule.id = v.rule_id
    where v.journal_id = any(${journals}::bigint[])`.execute(db)
  return new Map(rows.map(({ journal, ...rule }) => [journal, rule]))
}

export async function allLots(db: Kysely<Tables>): Promise<Lot[]> {
  const { rows } = await sql<Omit<Lot, 'units' | 'cost'> & { units: string; cost: string }>`
    select account, asset, deposit_id as "depositId", origin, acquired_at as "acquiredAt", units::text as units,
      cost::text as cost
    from value_lot`.execute(db)
  return rows.map(({ units, cost, ...row }) => ({ ...row, units: BigInt(units), cost: BigInt(cost) }))
}

/** Values by prices that were never imported, or did not apply at the time. A reversal has the prices of its journal. */
export async function priceFaults(db: Kysely<Tables>, limit: number): Promise<string[]> {
  const { rows } = await sql<{ fault: string }>`
    select coalesce('journal ' || v.journal_id, 'revaluation of ' || to_char(v.period, 'YYYY-MM')) || ': the price ' || l.price
      || ' of ' || l.asset || ' by ' || l.price_source || ' is not among the imported prices of its time' as fault
    from valued_line l join valued_journal v on v.id = l.valued_id join valuation_rule rule on rule.id = v.rule_id
      left join ledger_journal j on j.id = v.journal_id
    where l.price is not null and not exists (
      select from price p
      where (p.asset, p.currency, p.at, p.source, p.price) = (l.asset, v.currency, l.price_at, l.price_source, l.price)
        and (j.reverses is not null or v.kind = 'revaluation_back'
          or (p.at <= v.event_at and p.at >= v.event_at - rule.max_age))
    )
    order by v.id, l.line limit ${limit}`.execute(db)
  return rows.map(({ fault }) => fault)
}

/**
 * Assets and debts that are not at their market value after a revaluation, or are not brought back. All lines are summed
 * once, by month and by the revaluation that they precede.
 */
export async function revaluationFaults(db: Kysely<Tables>, limit: number): Promise<string[]> {
  const { rows } = await sql<{ fault: string }>`
    with revaluation as (
      select id, close_id, period, places, row_number() over (order by id) as number
      from valued_journal where kind = 'revaluation'
    ), part as materialized (
      select l.account, l.asset, v.period, width_bucket(v.id - 1, (select array_agg(id order by id) from revaluation)) as preceded_by,
        sum(l.units) as units, sum(l.value) as value
      from valued_line l join valued_journal v on v.id = l.valued_id
      where l.asset is not null and exists (select from revaluation)
      group by 1, 2, 3, 4
    ), held as (
      select l.valued_id, l.line, sum(part.units) as units, sum(part.value) as value
      from revaluation v join valued_line l on l.valued_id = v.id
        join part on part.account = l.account and part.asset = l.asset and part.period <= v.period
          and part.preceded_by < v.number
      group by l.valued_id, l.line
    )
    select 'revaluation of ' || to_char(v.period, 'YYYY-MM') || ': ' || l.account || coalesce(' in ' || l.asset, '') || ' ' ||
      case when is_back then 'is not at its market value' else 'is not brought back' end as fault
    from revaluation v join valued_line l on l.valued_id = v.id
      left join asset a on a.key = l.asset
      left join held on held.valued_id = l.valued_id and held.line = l.line
      cross join lateral (
        select exists (
          select from valued_journal b join valued_line x on x.valued_id = b.id
          where b.close_id = v.close_id and b.kind = 'revaluation_back' and x.line = l.line
            and x.account = l.account and x.asset is not distinct from l.asset and x.value = -l.value
        ) as is_back
      ) as back
    where not is_back
      or abs(held.value - held.units * l.price * power(10::numeric, v.places - a.decimals)) > 0.5
    order by v.id, l.line limit ${limit}`.execute(db)
  return rows.map(({ fault }) => fault)
}

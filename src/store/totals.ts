import { type Kysely, sql } from 'kysely'
import { countGaps } from './chain/coverage-gaps.ts'
import { readAlone } from './read-alone.ts'
import type { Tables } from './tables.ts'

/** Counts and sums over everything stored. The time they take grows with it. */
export type StoreTotals = {
  deposits: { state: string; network: string; count: number }[]
  /** For the deposits of the last 24 hours. */
  matrix: { leg: string; source: string; cell: string; count: number }[]
  assets: { asset: string; network: string; symbol: string }[]
  /** By purpose of the account, in units; debit balances are positive. */
  balances: { account: string; network: string; asset: string; units: number }[]
  imbalances: { asset: string; units: number }[]
  /** Block or slot ranges that were not read for some watched addresses. */
  coverageGaps: { network: string; ranges: number }[]
}

/**
 * Runs one query after another without parallel workers, so that at most one processor is busy, and nothing waits for a
 * connection.
 */
export function readTotals(db: Kysely<Tables>): Promise<StoreTotals> {
  return readAlone(db, async (tx) => {
    const deposits = await sql<StoreTotals['deposits'][number]>`
      select state, coalesce(network, '') as network, count(*)::float8 as count from deposit
      where merged_into is null group by state, network`.execute(tx)
    const matrix = await sql<StoreTotals['matrix'][number]>`
      select leg, source, cell, sum(deposits)::float8 as count
      from (
        select matrix, count(*) as deposits from deposit
        where coalesce(deposited_at, least(webhook_at, api_at)) >= now() - interval '24 hours'
          and merged_into is null and state <> 'ignored'
        group by matrix
      ) as alike, jsonb_each(matrix) as legs (leg, sources), jsonb_each_text(sources) as cells (source, cell)
      group by leg, source, cell`.execute(tx)
    const { assets, balances, imbalances } = await readBooks(tx)
    return {
      deposits: deposits.rows,
      matrix: matrix.rows,
      assets,
      balances,
      imbalances,
      coverageGaps: await countGaps(tx),
    }
  })
}

type BooksRow = {
  account: string
  network: string
  asset: string
  symbol: string
  units: number
  sum: number
}

/** Reads snapshots and later transfers, never all transfers. A sum is exact until it is shown. */
async function readBooks(
  db: Kysely<Tables>,
): Promise<Pick<StoreTotals, 'assets' | 'balances' | 'imbalances'>> {
  const { rows } = await sql<BooksRow>`
    select account, a.network, t.asset, a.symbol, accounting.in_units(balance, a.decimals)::float8 as units,
      accounting.in_units(sum(balance) over (partition by t.asset), a.decimals)::float8 as sum
    from (
      select case
          when account ~ '^(assets:(in_transit|forwarded|stable_wallet|receivable)|liabilities:(deposits|suspense)|expenses:(fees|tolerance|write_off)|equity:conversion)(:|$)'
          then split_part(account, ':', 2) else 'other' end as account,
        asset, sum(debit - credit) as balance
      from ledger_turnover('infinity', 'infinity') group by 1, asset
    ) as t join asset a on a.key = t.asset
    order by t.asset, account`.execute(db)
  const perAsset = [...Map.groupBy(rows, ({ asset }) => asset).values()].flatMap(([first]) => first ?? [])
  return {
    assets: perAsset.map(({ asset, network, symbol }) => ({ asset, network, symbol })),
    balances: rows.map(({ account, network, asset, units }) => ({ account, network, asset, units })),
    imbalances: perAsset.map(({ asset, sum }) => ({ asset, units: sum })),
  }
}

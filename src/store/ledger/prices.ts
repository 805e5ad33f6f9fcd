import { type Kysely, sql, type Transaction } from 'kysely'
import { valueKinds } from '../../core/mismatches/evidence-kinds.ts'
import type { CostBasis } from '../../ledger/lots.ts'
import { asTable } from '../database.ts'
import type { Tables } from '../tables.ts'

export type AssetPrice = { asset: string; currency: string; at: Date; price: string; source: string }

/** Null if amounts are not valued. */
export type Valuation = ({ id: bigint; currency: string; maxAgeMs: number } & CostBasis) | null

/** No own funds. */
const noBasis: CostBasis = { own: [], method: 'fifo', pool: 'account' }

/** Writes nothing if it is already in effect. */
export async function keepValuation(
  db: Kysely<Tables>,
  valuation: ({ currency: string; maxAgeMs: number } & Partial<CostBasis>) | null,
): Promise<void> {
  const { currency, maxAgeMs, ...basis } = valuation ?? { currency: null, maxAgeMs: null }
  const { own, method, pool } = { ...noBasis, ...basis }
  await sql`
    insert into valuation_rule (currency, max_age, own_accounts, method, pool)
    select currency, max_age, own, method, pool
    from (select ${currency}::text as currency, ${maxAgeMs}::bigint * interval '1 ms' as max_age,
      ${own}::text[] as own, ${method}::text as method, ${pool}::text as pool) as asked
    where (currency, max_age, own, method, pool) is distinct from (
      select (currency, max_age, own_accounts, method, pool) from (
        select * from valuation_rule order by id desc limit 1
      ) as last
    )`.execute(db)
}

/** Null if amounts are not valued. */
export async function readValuation(db: Kysely<Tables>): Promise<Valuation> {
  const { rows } = await sql<NonNullable<Valuation>>`
    select id, currency, (extract(epoch from max_age) * 1000)::float8 as "maxAgeMs", own_accounts as own, method, pool
    from active_valuation`.execute(db)
  return rows[0] ?? null
}

/** By which all values of the books are, the next ones too; null if it was changed. */
export async function soleBasis(db: Kysely<Tables>): Promise<CostBasis | null> {
  const { rows } = await sql<CostBasis>`
    select distinct own_accounts as own, method, pool from valuation_rule rule
    where id = (select id from active_valuation) or exists (select from valued_journal v where v.rule_id = rule.id)`.execute(
    db,
  )
  return rows.length === 1 ? (rows[0] ?? null) : null
}

export type AppliedPrice = { asset: string; price: string; price_at: Date; price_source: string }

/** By asset; without those that have no price at that moment. */
export async function pricesAt(db: Kysely<Tables>, at: string): Promise<ReadonlyMap<string, AppliedPrice>> {
  const { rows } = await sql<AppliedPrice>`
    select asset.key as asset, p.price::text as price, p.price_at, p.source as price_source
    from asset cross join accounting.price_at(asset.key, ${at}::timestamptz) as p`.execute(db)
  return new Map(rows.map((row) => [row.asset, row]))
}

/** In UTC. Of each asset and day the last price, up to a moment if one is given; ordered by day. */
export async function dailyPrices(
  db: Kysely<Tables>,
  { assets, before }: { assets: readonly string[]; before: string | null },
): Promise<{ day: string; asset: string; price: string }[]> {
  const { rows } = await sql<{ day: string; asset: string; price: string }>`
    select distinct on (day, asset) to_char(p.at at time zone 'UTC', 'YYYY-MM-DD') as day, p.asset, p.price::text as price
    from price p join active_valuation rule using (currency)
    where p.asset = any(${assets}::text[]) and p.at < coalesce(${before}::timestamptz, 'infinity')
    order by day, asset, p.at desc, p.id desc`.execute(db)
  return rows
}

/** Until the transaction ends: two files in different order would deadlock. */
export async function importAlone(tx: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('prices'))`.execute(tx)
}

/** Asset keys by every name that a file may use: the key, and `network/SYMBOL` if it is unique. */
export async function assetNames(db: Kysely<Tables>): Promise<ReadonlyMap<string, string>> {
  const { rows } = await sql<{ name: string; key: string }>`
    select network || '/' || symbol as name, min(key) as key from asset group by 1 having count(*) = 1
    union all select key, key from asset`.execute(db)
  return new Map(rows.map(({ name, key }) => [name, key]))
}

/** @returns how many were added, and each price that differs from a stored one, by position */
export async function addPrices(
  tx: Transaction<Tables>,
  prices: readonly AssetPrice[],
): Promise<{ added: number; conflicts: { place: number; known: string }[] }> {
  const placed = prices.map((price, place) => ({ ...price, place }))
  const given = asTable('given', placed, priceColumns)
  const { numAffectedRows = 0n } = await sql`
    insert into price (asset, currency, at, price, source)
    select asset, currency, at, price, source from ${given} order by place
    on conflict (asset, currency, at, source) do nothing`.execute(tx)
  const { rows } = await sql<{ place: number; known: string }>`
    select given.place, price.price::text as known
    from ${given} join price using (asset, currency, at, source) where price.price <> given.price
    order by given.place`.execute(tx)
  return { added: Number(numAffectedRows), conflicts: rows }
}

/**
 * Of assets without a price, the price that a whole delivery gives for what was paid: what it became, at its own price.
 * Only for journals that have no value yet.
 */
export async function addConversionRates(db: Kysely<Tables>): Promise<void> {
  await sql`
    insert into price (asset, currency, at, price, source)
    select distinct on (paid_asset, received_at) paid_asset, currency, received_at,
      round(delivered * delivered_price / paid, 18), 'conversion'
    from accounting.conversion
    where journal_id > (select coalesce(max(journal_id), 0) from valued_journal)
      and kind = 'settlement' and paid_price is null and paid > 0 and delivered * delivered_price > 0
      and deposit_id not in (
        select deposit_id from mismatch where deposit_id is not null and kind = any(${valueKindNames}::text[])
      )
    order by paid_asset, received_at, journal_id
    on conflict do nothing`.execute(db)
}

const valueKindNames = Object.keys(valueKinds)

const priceColumns = 'place int, asset text, currency text, at timestamptz, price numeric, source text'

export type PriceRow = {
  asset_symbol: string
  asset: string
  currency: string
  at: Date
  price: string
  source: string
  imported_at: Date
}

/** The sort key of prices, unique. */
export type PriceKey = Pick<PriceRow, 'at' | 'asset' | 'currency' | 'source'>

/** Newest first. */
export async function listPrices(
  db: Kysely<Tables>,
  { limit, after = null }: { limit: number; after?: PriceKey | null },
): Promise<PriceRow[]> {
  const behind =
    after === null
      ? sql`true`
      : sql`(at < ${after.at} or (at = ${after.at}
          and (asset, currency, source) > (${after.asset}, ${after.currency}, ${after.source})))`
  const { rows } = await sql<PriceRow>`
    select asset_symbol, asset, currency, at, price::text as price, source, imported_at from accounting.prices
    where ${behind} order by at desc, asset, currency, source limit ${limit}`.execute(db)
  return rows
}

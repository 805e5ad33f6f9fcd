import { type Kysely, sql, type Transaction } from 'kysely'
import { minorPlaces } from '../../core/value.ts'
import type { Lot } from '../../ledger/lots.ts'
import type {
  Disposal,
  JournalToValue,
  OpeningLot,
  ValuedJournal,
  ValuedLine,
} from '../../ledger/valued-journal.ts'
import { asTable } from '../database.ts'
import type { Tables } from '../tables.ts'
import type { Valuation } from './prices.ts'

/** Until the transaction ends: two valuations would take the same lots. */
export async function valueAlone(tx: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('values'))`.execute(tx)
}

/** The last valued journal, and the currency, which an opening may have set; null without both. */
export async function readValued(
  db: Kysely<Tables>,
): Promise<{ lastJournal: bigint; currency: string | null }> {
  const { rows } = await sql<{ lastJournal: bigint; currency: string | null }>`
    select coalesce(max(journal_id), 0) as "lastJournal",
      coalesce((select currency from valued_journal order by id limit 1), (select currency from opening_lot order by id limit 1))
        as currency
    from valued_journal`.execute(db)
  return rows[0] ?? { lastJournal: 0n, currency: null }
}

export type UnvaluedJournal = Pick<JournalToValue, 'id' | 'eventAt' | 'depositId' | 'lots'> & {
  period: string
  /** The journal that it takes back. */
  reverses: bigint | null
}

/** The price is that at the time of the event; null without one. */
export type UnitChangeRow = {
  journal: bigint
  account: string
  asset: string
  units: string
  decimals: number
  price: string | null
  priceAt: Date | null
  source: string | null
}

/** In the order of their numbers. */
export async function readUnvalued(
  db: Kysely<Tables>,
  { after, upTo, limit }: { after: bigint; upTo: bigint; limit: number },
): Promise<{ journals: UnvaluedJournal[]; changes: UnitChangeRow[] }> {
  const { rows: journals } = await sql<Omit<UnvaluedJournal, 'lots'>>`
    select id, event_at as "eventAt", deposit_id as "depositId", period, reverses
    from ledger_journal where id > ${after} and id <= ${upTo} order by id limit ${limit}`.execute(db)
  const last = journals.at(-1)?.id ?? after
  const { rows: changes } = await sql<UnitChangeRow>`
    select net.journal_id as journal, net.account, net.asset, net.units::text as units, a.decimals,
      p.price::text as price, p.price_at as "priceAt", p.source
    from (
      select journal_id, account, asset, event_at, min(leg) as leg, sum(amount) as units from ledger_entry
      where journal_id > ${after} and journal_id <= ${last}
      group by journal_id, account, asset, event_at having sum(amount) <> 0
    ) as net
      join asset a on a.key = net.asset
      left join accounting.price_at(net.asset, net.event_at) as p on true
    order by net.journal_id, net.leg, net.units desc`.execute(db)
  const lots = await readOpeningLots(db, { after, upTo: last })
  return { journals: journals.map((journal) => ({ ...journal, lots: lots.get(journal.id) ?? [] })), changes }
}

/** By journal, the oldest first. */
async function readOpeningLots(
  db: Kysely<Tables>,
  { after, upTo }: { after: bigint; upTo: bigint },
): Promise<Map<bigint, OpeningLot[]>> {
  const { rows } = await sql<
    Omit<OpeningLot, 'units' | 'cost'> & { journal: bigint; units: string; cost: string }
  >`
    select journal_id as journal, account, asset, acquired_at as "acquiredAt", units::text as units, cost::text as cost
    from opening_lot where journal_id > ${after} and journal_id <= ${upTo}
    order by journal_id, acquired_at, id`.execute(db)
  const lots = rows.map(({ units, cost, ...row }) => ({ ...row, units: BigInt(units), cost: BigInt(cost) }))
  return Map.groupBy(lots, ({ journal }) => journal)
}

export type PricedLine = ValuedLine & {
  journal: bigint
  price: string | null
  priceAt: Date | null
  source: string | null
}

/** By journal. */
export async function readValuedJournals(
  db: Kysely<Tables>,
  journals: readonly bigint[],
): Promise<Map<bigint, ValuedJournal & { lines: PricedLine[] }>> {
  const { rows: lines } = await sql<{
    journal: bigint
    account: string
    asset: string | null
    units: string
    value: string
    price: string | null
    priceAt: Date | null
    source: string | null
  }>`
    select v.journal_id as journal, l.account, l.asset, l.units::text as units, l.value::text as value,
      l.price::text as price, l.price_at as "priceAt", l.price_source as source
    from valued_line l join valued_journal v on v.id = l.valued_id
    where v.journal_id = any(${journals}::bigint[]) order by l.valued_id, l.line`.execute(db)
  const { rows: disposals } = await sql<DisposalRow>`
    select v.journal_id as journal, d.account, d.asset, coalesce(d.acquired_by, 0) as origin,
      d.acquired_at as "acquiredAt", d.units::text as units, d.cost::text as cost, d.proceeds::text as proceeds
    from disposal d join valued_journal v on v.id = d.valued_id
    where v.journal_id = any(${journals}::bigint[]) order by d.valued_id, d.line`.execute(db)
  const read = lines.map((line) => ({ ...line, units: BigInt(line.units), value: BigInt(line.value) }))
  const given = Map.groupBy(disposals, ({ journal }) => journal)
  return new Map(
    [...Map.groupBy(read, ({ journal }) => journal)].map(([journal, own]) => [
      journal,
      { lines: own, disposals: (given.get(journal) ?? []).map(disposalOf) },
    ]),
  )
}

type DisposalRow = Pick<Disposal, 'account' | 'asset' | 'origin' | 'acquiredAt'> & {
  journal: bigint
  units: string
  cost: string
  proceeds: string
}

function disposalOf({ journal: _journal, units, cost, proceeds, ...row }: DisposalRow): Disposal {
  return { ...row, units: BigInt(units), cost: BigInt(cost), proceeds: BigInt(proceeds) }
}

/** Of trading accounts those of the deposits, of others those of the accounts; and all of these patterns. */
export async function readLots(
  db: Kysely<Tables>,
  of: {
    accounts: readonly string[]
    assets: readonly string[]
    deposits: readonly bigint[]
    pooled: readonly string[]
  },
): Promise<Lot[]> {
  const { rows } = await sql<Omit<Lot, 'units' | 'cost'> & { units: string; cost: string }>`
    select account, asset, deposit_id as "depositId", origin, acquired_at as "acquiredAt", units::text as units,
      cost::text as cost
    from value_lot
    where (deposit_id is null and asset = any(${of.assets}::text[]) and (account = any(${of.accounts}::text[])
        or exists (select from unnest(${of.pooled}::text[]) as own where fits_pattern(account, own))))
      or deposit_id = any(${of.deposits}::bigint[])
    order by acquired_at nulls first, origin, account`.execute(db)
  return rows.map(({ units, cost, ...row }) => ({ ...row, units: BigInt(units), cost: BigInt(cost) }))
}

/** Lots are known by account, asset, deposit, origin and date. */
export async function saveLots(
  tx: Transaction<Tables>,
  { gone, kept }: { gone: readonly Lot[]; kept: readonly Lot[] },
): Promise<void> {
  await sql`
    delete from value_lot l using ${asTable('gone', gone, 'account text, asset text, depositId bigint, origin bigint, acquiredAt timestamptz')}
    where l.account = gone.account and l.asset = gone.asset and l.origin = gone.origin
      and (l.deposit_id, l.acquired_at) is not distinct from (gone."depositId", gone."acquiredAt")`.execute(
    tx,
  )
  await sql`
    insert into value_lot (account, asset, deposit_id, origin, acquired_at, units, cost)
    select account, asset, "depositId", origin, "acquiredAt", units, cost from ${asTable('lot', kept, lotColumns)}
    on conflict (account, asset, deposit_id, origin, acquired_at) do update
      set units = excluded.units, cost = excluded.cost`.execute(tx)
}

const lotColumns =
  'account text, asset text, depositId bigint, origin bigint, acquiredAt timestamptz, units numeric, cost numeric'

/** A journal, or a revaluation that belongs to the close of a month. */
export type ValuationToSave = {
  kind: 'journal' | 'revaluation' | 'revaluation_back'
  journal: bigint | null
  close: bigint | null
  eventAt: Date | string
  period: string
  lines: readonly Omit<PricedLine, 'journal'>[]
  disposals: readonly Disposal[]
}

export async function saveValued(
  tx: Transaction<Tables>,
  valuations: readonly ValuationToSave[],
  { id: rule, currency }: NonNullable<Valuation>,
): Promise<void> {
  const placed = valuations.map((one, place) => ({ ...one, place }))
  const { rows } = await sql<{ id: bigint }>`
    insert into valued_journal (kind, journal_id, close_id, event_at, period, rule_id, currency, places)
    select kind, journal, close, "eventAt", period, ${rule}, ${currency}, ${minorPlaces(currency)}
    from ${asTable('valued', placed, 'place int, kind text, journal bigint, close bigint, eventAt timestamptz, period date')}
    order by place returning id`.execute(tx)
  const ids = rows.map(({ id }) => id).toSorted((one, other) => Number(one - other))
  const lines = valuations.flatMap((one, place) =>
    one.lines.map((line, index) => ({ ...line, id: ids[place], line: index + 1 })),
  )
  await sql`
    insert into valued_line (valued_id, line, account, asset, units, value, price, price_at, price_source)
    select id, line, account, asset, units, value, price, "priceAt", source
    from ${asTable('valued', lines, lineColumns)}`.execute(tx)
  const disposals = valuations.flatMap((one, place) =>
    one.disposals.map(({ origin, ...part }, index) => ({
      ...part,
      id: ids[place],
      line: index + 1,
      acquiredBy: origin === 0n ? null : origin,
    })),
  )
  await sql`
    insert into disposal (valued_id, line, account, asset, acquired_by, acquired_at, units, cost, proceeds)
    select id, line, account, asset, "acquiredBy", "acquiredAt", units, cost, proceeds
    from ${asTable('given', disposals, disposalColumns)}`.execute(tx)
}

const lineColumns =
  'id bigint, line int, account text, asset text, units numeric, value numeric, price numeric, priceAt timestamptz, source text'

const disposalColumns =
  'id bigint, line int, account text, asset text, acquiredBy bigint, acquiredAt timestamptz, units numeric, cost numeric, proceeds numeric'

/** A journal without a price of an asset at its time; null of the end of a month. */
export type PriceGap = { journal: bigint | null; asset: string; assetSymbol: string; at: Date }

/** Of journals that have no value yet, ordered by their numbers. Reversals need no price. */
export async function priceGaps(
  db: Kysely<Tables>,
  { after, upTo, limit }: { after: bigint; upTo: bigint; limit: number },
): Promise<PriceGap[]> {
  const { rows } = await sql<PriceGap>`
    select distinct j.id as journal, t.asset, a.symbol as "assetSymbol", j.event_at as at
    from ledger_journal j join ledger_transfer t on t.journal_id = j.id join asset a on a.key = t.asset
    where j.id > ${after} and j.id <= ${upTo} and j.reverses is null
      and not exists (select from accounting.price_at(t.asset, j.event_at))
    order by journal, t.asset limit ${limit}`.execute(db)
  return rows
}

/** Of the books of a month and of those before it; 0 if there is none. */
export async function lastJournalIn(db: Kysely<Tables>, period: string): Promise<bigint> {
  const { rows } = await sql<{ id: bigint }>`
    select coalesce(max(id), 0) as id from ledger_journal where period <= to_date(${period}, 'YYYY-MM')`.execute(
    db,
  )
  return rows[0]?.id ?? 0n
}

/** The number of the last valued journal or revaluation. */
export async function lastValuation(db: Kysely<Tables>): Promise<bigint> {
  const { rows } = await sql<{ id: bigint }>`select coalesce(max(id), 0) as id from valued_journal`.execute(
    db,
  )
  return rows[0]?.id ?? 0n
}

/** Units, and what they are carried at. */
export type CarriedSum = {
  account: string
  asset: string
  assetSymbol: string
  decimals: number
  units: bigint
  value: bigint
}

/** Assets and debts in the books of a month and of those before it, by valuations after one and up to another. */
export async function sumValues(
  db: Kysely<Tables>,
  { period, after, upTo }: { period: string; after: bigint; upTo: bigint },
): Promise<CarriedSum[]> {
  const { rows } = await sql<Omit<CarriedSum, 'units' | 'value'> & { units: string; value: string }>`
    select l.account, l.asset, a.symbol as "assetSymbol", a.decimals, sum(l.units)::text as units, sum(l.value)::text as value
    from valued_line l join valued_journal v on v.id = l.valued_id join asset a on a.key = l.asset
    where v.id > ${after} and v.id <= ${upTo} and v.period <= to_date(${period}, 'YYYY-MM')
      and (l.account like 'assets:%' or l.account like 'liabilities:%')
    group by l.account, l.asset, a.symbol, a.decimals
    order by l.account, l.asset`.execute(db)
  return rows.map(({ units, value, ...row }) => ({ ...row, units: BigInt(units), value: BigInt(value) }))
}

/** Null if all journals are valued. */
export async function nextUnvalued(db: Kysely<Tables>, after: bigint): Promise<bigint | null> {
  const { rows } = await sql<{ id: bigint | null }>`
    select min(id) as id from ledger_journal where id > ${after}`.execute(db)
  return rows[0]?.id ?? null
}

import { type Kysely, type RawBuilder, sql } from 'kysely'
import { readAlone } from './database.ts'
import type { Tables } from './tables.ts'

/** Hours are numbered from `from` on, from 0. The last one is not over. */
export type ChartFigures = {
  from: Date
  hours: number
  /** By the time of the payment; until that is known, of the first report. */
  deposits: { hour: number; state: string; count: number }[]
  /** Seconds from the final payment to the delivery, of deposits delivered in that hour. */
  settling: { hour: number; count: number; p50: number; p95: number }[]
  /** Closed by evidence or by a person, and not opened again since. */
  mismatches: { hour: number; opened: number; closed: number }[]
  /** In the books at the end of each hour, for every hour of each asset. */
  transit: (AmountOfAsset & { hour: number })[]
  /** Of open mismatches. Each class of age excludes the younger ones. */
  losses: (AmountOfAsset & { age: 'under_1h' | 'under_24h' | 'under_7d' | 'older' })[]
}

export type AmountOfAsset = {
  asset: string
  network: string
  symbol: string
  decimals: number
  amount: bigint
}

const hours = 24
/** Further ones are not read. */
const assetsMax = 12
const hourMs = 3_600_000

/** The hours up to `now`. Each statement reads one day by an index, or what is open. */
export function readCharts(db: Kysely<Tables>, now: Date): Promise<ChartFigures> {
  const from = new Date((Math.floor(now.getTime() / hourMs) - hours + 1) * hourMs)
  const span = { from, until: new Date(from.getTime() + hours * hourMs) }
  return readAlone(db, async (tx) => ({
    from,
    hours,
    deposits: await readDeposits(tx, span),
    settling: await readSettling(tx, span),
    mismatches: await readOpenedAndClosed(tx, span),
    transit: await readTransit(tx, span),
    losses: await readLosses(tx, now),
  }))
}

type ChartSpan = { from: Date; until: Date }

const within = (time: RawBuilder<unknown>, { from, until }: ChartSpan) =>
  sql`${time} >= ${from} and ${time} < ${until}`

const hourOf = (time: RawBuilder<unknown>, { from }: ChartSpan) =>
  sql`floor(extract(epoch from ${time} - ${from}::timestamptz) / 3600)::int`

async function readDeposits(db: Kysely<Tables>, span: ChartSpan): Promise<ChartFigures['deposits']> {
  const since = sql`coalesce(deposited_at, least(webhook_at, api_at))`
  const { rows } = await sql<ChartFigures['deposits'][number]>`
    select ${hourOf(since, span)} as hour, state, count(*)::int as count from deposit
    where ${within(since, span)} and merged_into is null and state <> 'ignored'
    group by 1, state`.execute(db)
  return rows
}

async function readSettling(db: Kysely<Tables>, span: ChartSpan): Promise<ChartFigures['settling']> {
  const settledAt = sql`settled_at`
  const { rows } = await sql<ChartFigures['settling'][number]>`
    select hour, count(*)::int as count, percentile_cont(0.5) within group (order by seconds) as p50,
      percentile_cont(0.95) within group (order by seconds) as p95
    from (
      select ${hourOf(settledAt, span)} as hour,
        greatest(extract(epoch from settled_at - final_at), 0)::float8 as seconds
      from deposit
      where ${within(settledAt, span)} and final_at is not null and merged_into is null and state <> 'ignored'
    ) as settled group by hour order by hour`.execute(db)
  return rows
}

async function readOpenedAndClosed(db: Kysely<Tables>, span: ChartSpan): Promise<ChartFigures['mismatches']> {
  const [openedAt, closedAt] = [sql`opened_at`, sql`least(cleared_at, resolved_at)`]
  const { rows } = await sql<ChartFigures['mismatches'][number]>`
    select hour, sum(opened)::int as opened, sum(closed)::int as closed
    from (
      select ${hourOf(openedAt, span)} as hour, 1 as opened, 0 as closed from mismatch where ${within(openedAt, span)}
      union all
      select ${hourOf(closedAt, span)}, 0, 1 from mismatch where ${within(closedAt, span)}
    ) as changed group by hour order by hour`.execute(db)
  return rows
}

type AmountRow<Row> = Omit<Row, 'amount'> & { amount: string }

/** The balance before the day, and what the day added and took. */
async function readTransit(db: Kysely<Tables>, span: ChartSpan): Promise<ChartFigures['transit']> {
  const eventAt = sql`event_at`
  const { rows } = await sql<AmountRow<ChartFigures['transit'][number]>>`
    with part as (
      select asset, 0 as hour, sum(debit - credit) as amount from ledger_turnover(${span.from}, 'infinity')
      where starts_with(account, 'assets:in_transit:') group by asset
      union all
      select asset, ${hourOf(eventAt, span)}, amount from ledger_entry
      where starts_with(account, 'assets:in_transit:') and event_at > ${span.from} and event_at < ${span.until}
    ), held as (
      select asset from part group by asset having bool_or(amount <> 0) order by asset limit ${assetsMax}
    )
    select a.key as asset, a.network, a.symbol, a.decimals, clock.hour,
      sum(coalesce(sum(p.amount), 0)) over (partition by a.key order by clock.hour)::text as amount
    from held join asset a on a.key = held.asset cross join generate_series(0, ${hours - 1}::int) as clock (hour)
      left join part p on p.asset = a.key and p.hour = clock.hour
    group by a.key, a.network, a.symbol, a.decimals, clock.hour order by a.key, clock.hour`.execute(db)
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }))
}

/** Each transfer counts once, with its largest loss, since its oldest mismatch. */
async function readLosses(db: Kysely<Tables>, now: Date): Promise<ChartFigures['losses']> {
  const { rows } = await sql<AmountRow<ChartFigures['losses'][number]>>`
    with lost as (
      select loss_asset as asset, max(loss_amount) as amount, min(opened_at) as since
      from open_mismatch where loss_asset is not null group by loss_asset, stake
    )
    select a.key as asset, a.network, a.symbol, a.decimals, sum(lost.amount)::text as amount,
      case when since > ${now}::timestamptz - interval '1 hour' then 'under_1h'
        when since > ${now}::timestamptz - interval '24 hours' then 'under_24h'
        when since > ${now}::timestamptz - interval '7 days' then 'under_7d' else 'older' end as age
    from lost join asset a on a.key = lost.asset
    where lost.asset in (select asset from lost group by asset order by asset limit ${assetsMax})
    group by a.key, a.network, a.symbol, a.decimals, age order by a.key, min(since) desc`.execute(db)
  return rows.map((row) => ({ ...row, amount: BigInt(row.amount) }))
}

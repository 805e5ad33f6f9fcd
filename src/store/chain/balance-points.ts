import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { Address, AssetKey, NetworkName } from '../../core/asset.ts'
import { type AssetHolding, type Balance, type BalanceSpan, unexplained } from '../../core/balance-proof.ts'
import { asTable } from '../database.ts'
import type { Tables } from '../tables.ts'

export type DueHoldingsFilter = {
  network: NetworkName
  assets: readonly AssetKey[]
  readBefore: Date
  limit: number
}

/** Assets take turns, so that an unreadable one does not block the others. Holdings that were never read come first. */
export async function dueHoldings(
  db: Kysely<Tables>,
  { network, assets, readBefore, limit }: DueHoldingsFilter,
): Promise<AssetHolding[]> {
  const { rows } = await sql<{ address: Address; asset: AssetKey }>`
    with due as (
      select w.address, a.asset, w.number,
        row_number() over (partition by a.asset order by p.checked_at nulls first, w.number) as place
      from chain_watch w
        join address_book b on b.network = w.network and b.address = w.address and b.role = 'deposit'
        cross join unnest(${assets}::text[]) as a (asset)
        left join balance_point p on p.network = w.network and p.address = w.address and p.asset = a.asset
      where w.network = ${network} and p.reading is null and (p.checked_at is null or p.checked_at < ${readBefore})
    )
    select address, asset from due order by place, number, asset limit ${limit}`.execute(db)
  return rows.map((row) => ({ network, ...row }))
}

/** All at one height. A height at or below the last proved one proves nothing and is not stored. */
export async function saveReadings(
  tx: Transaction<Tables>,
  { height, at }: { height: bigint; at: Date },
  readings: readonly { holding: AssetHolding; amount: bigint }[],
): Promise<void> {
  const rows = readings.map(({ holding, amount }) => ({ ...holding, amount }))
  await sql`
    insert into balance_point as p (network, address, asset, opening_height, opening, opening_is, height, balance,
      reading_height, reading, checked_at)
    select network, address, asset, from_height - 1, opening, case when is_opening then 'read' else 'assumed' end,
      from_height - 1, opening, case when ${height} >= from_height then ${height}::bigint end,
      case when ${height} >= from_height then amount end, ${at}
    from ${asTable('reading', rows, `${holdingColumns}, amount numeric`)}
      join chain_watch using (network, address),
      lateral (select from_height - 1 = ${height} as is_opening) as first,
      lateral (select case when is_opening then amount else 0 end as opening) as before
    on conflict (network, address, asset) do update set
      reading_height = case when ${height} > p.height then ${height}::bigint end,
      reading = case when ${height} > p.height then excluded.reading end,
      checked_at = excluded.checked_at`.execute(tx)
}

/** All blocks up to it are read. */
export type ReadyBalanceSpan = BalanceSpan & {
  holding: AssetHolding
  known: bigint
  /** Nothing is proved yet: the span starts below the first height read. */
  isFirst: boolean
  /** The address may have had a balance when the network was first read. */
  isOld: boolean
}

type ReadyRow = AssetHolding & {
  height: bigint
  balance: string
  readingHeight: bigint
  reading: string
  known: string
  isFirst: boolean
  isOld: boolean
}

/** Oldest first. */
export async function readyReadings(
  db: Kysely<Tables>,
  network: NetworkName,
  limit: number,
): Promise<ReadyBalanceSpan[]> {
  const { rows } = await sql<ReadyRow>`
    with ready as (
      select p.*, w.enrolled_at = (select min(enrolled_at) from chain_watch where network = ${network}) as "isOld"
      from balance_point p join chain_watch w using (network, address)
      where p.network = ${network} and p.reading is not null
        and int8range(p.height + 1, p.reading_height + 1) <@ (
          select coalesce(range_agg(c.heights), '{}') from chain_coverage c
          where c.network = p.network and c.watched >= w.number and c.assets @> array[p.asset]
        )
      order by p.checked_at limit ${limit}
    )
    select network, address, asset, height, balance, reading_height as "readingHeight", reading, "isOld",
      height = opening_height and opening_is = 'assumed' as "isFirst",
      known_change(network, address, asset, height, reading_height) as known
    from ready`.execute(db)
  return rows.map(
    ({ network: on, address, asset, height, balance, readingHeight, reading, known, ...rest }) => ({
      holding: { network: on, address, asset },
      start: toBalance(height, balance),
      end: toBalance(readingHeight, reading),
      known: BigInt(known),
      ...rest,
    }),
  )
}

/** The balances read are proved. */
export async function settleReadings(
  tx: Transaction<Tables>,
  ready: readonly ReadyBalanceSpan[],
): Promise<void> {
  await sql`
    update balance_point p set height = reading_height, balance = reading, reading_height = null, reading = null
    ${thoseRead(ready)}`.execute(tx)
}

export async function dropReadings(
  tx: Transaction<Tables>,
  dropped: readonly ReadyBalanceSpan[],
): Promise<void> {
  await sql`update balance_point p set reading_height = null, reading = null ${thoseRead(dropped)}`.execute(
    tx,
  )
}

function thoseRead(ready: readonly ReadyBalanceSpan[]): RawBuilder<unknown> {
  const rows = ready.map(({ holding, end: { height } }) => ({ ...holding, height }))
  return sql`from ${asTable('given', rows, `${holdingColumns}, height bigint`)}
    where (p.network, p.address, p.asset, p.reading_height) = (given.network, given.address, given.asset, given.height)`
}

/** Before its first known change: `read`, or `left` over from its first balance. */
export type OpeningBalance = { holding: AssetHolding; amount: bigint; is: 'read' | 'left' }

export async function setOpenings(
  tx: Transaction<Tables>,
  openings: readonly OpeningBalance[],
): Promise<void> {
  const rows = openings.map(({ holding, amount, is }) => ({ ...holding, amount, is }))
  await sql`
    update balance_point p set opening = o.amount, balance = o.amount, opening_is = o.is
    from ${asTable('o', rows, `${holdingColumns}, amount numeric, is text`)}
    where (p.network, p.address, p.asset) = (o.network, o.address, o.asset)
      and p.height = p.opening_height`.execute(tx)
}

/** For changed final history above the height. Balances proved above it are proved again from the opening. */
export async function rewindBalances(
  tx: Transaction<Tables>,
  network: NetworkName,
  above: bigint,
): Promise<void> {
  await sql`delete from balance_point where network = ${network} and opening_height > ${above}`.execute(tx)
  await sql`
    with rewound as (
      update balance_point set height = opening_height, balance = opening, reading_height = null, reading = null
      where network = ${network} and (height > ${above} or reading_height > ${above})
      returning network, address, asset
    )
    delete from balance_difference d using rewound r
    where (d.network, d.address, d.asset) = (r.network, r.address, r.asset)`.execute(tx)
}

/** In the order of the ranges. */
export async function knownChanges(
  db: Kysely<Tables>,
  ranges: readonly { holding: AssetHolding; above: bigint; upTo: bigint }[],
): Promise<bigint[]> {
  const placed = ranges.map(({ holding, ...range }, place) => ({ ...holding, ...range, place }))
  const { rows } = await sql<{ known: string }>`
    select known_change(network, address, asset, above, "upTo") as known
    from ${asTable('block_range', placed, `${holdingColumns}, above bigint, upTo bigint, place int`)}
    order by place`.execute(db)
  return rows.map(({ known }) => BigInt(known))
}

export type ProofStatus = { points: number; unread: number; waiting: number; lowest: bigint | null }

/** `points` are proved, `unread` never read, `waiting` read but not checked; all are proved up to `lowest`. */
export async function proofStatus(
  db: Kysely<Tables>,
  { network, assets }: Pick<DueHoldingsFilter, 'network' | 'assets'>,
): Promise<ProofStatus> {
  const { rows } = await sql<ProofStatus>`
    select count(p.address)::int as points, count(*) filter (where p.address is null)::int as unread,
      count(p.reading)::int as waiting, min(p.height) as lowest
    from address_book b
      cross join unnest(${assets}::text[]) as a (asset)
      left join balance_point p on p.network = b.network and p.address = b.address and p.asset = a.asset
    where b.network = ${network} and b.role = 'deposit'`.execute(db)
  return rows[0] ?? { points: 0, unread: 0, waiting: 0, lowest: null }
}

export function isExplained(ready: ReadyBalanceSpan): boolean {
  return unexplained(ready, ready.known) === 0n
}

export function toBalance(height: bigint, amount: string): Balance {
  return { height, amount: BigInt(amount) }
}

/** For holdings as a table in a statement. */
export const holdingColumns = 'network text, address text, asset text'

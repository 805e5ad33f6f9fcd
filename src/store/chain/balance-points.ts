import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { Address, AssetKey, NetworkName } from '../../core/asset.ts'
import { type AssetHolding, type Balance, type BalanceSpan, unexplained } from '../../core/balance-proof.ts'
import type { Tables } from '../tables.ts'

/** Rows that one statement fills, so that none takes long. */
const fillMax = 10_000

/** Fills columns that rows of an older version lack, from the stored text. Safe to run concurrently. */
export async function fillChainTransfers(db: Kysely<Tables>): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ found: number }>`
      with unfilled as (
        select s.inbox_id, convert_from(i.body, 'UTF8')::jsonb as body
        from chain_transfer s join inbox i on i.id = s.inbox_id where s.role is null limit ${fillMax}
      ), filled as (
        update chain_transfer s set role = body ->> 'role', address = body ->> 'to', asset = body ->> 'asset',
          amount = (body ->> 'amount')::numeric
        from unfilled where s.inbox_id = unfilled.inbox_id and s.role is null
      )
      select count(*)::int as found from unfilled`.execute(db)
    if ((rows[0]?.found ?? 0) < fillMax) return
  }
}

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
  const amounts = readings.map(({ amount }) => amount.toString())
  await sql`
    with reading as (
      select * from ${holdingsTable(
        readings.map(({ holding }) => holding),
        sql`${amounts}::numeric[]`,
      )}
        as reading (network, address, asset, amount)
    )
    insert into balance_point as p (network, address, asset, opening_height, opening, opening_is, height, balance,
      reading_height, reading, checked_at)
    select network, address, asset, from_height - 1, opening, case when is_opening then 'read' else 'assumed' end,
      from_height - 1, opening, case when ${height} >= from_height then ${height}::bigint end,
      case when ${height} >= from_height then amount end, ${at}
    from reading join chain_watch using (network, address),
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
  reading_height: bigint
  reading: string
  known: string
  is_first: boolean
  is_old: boolean
}

/** Oldest first. */
export async function readyReadings(
  db: Kysely<Tables>,
  network: NetworkName,
  limit: number,
): Promise<ReadyBalanceSpan[]> {
  const { rows } = await sql<ReadyRow>`
    with ready as (
      select p.*, w.enrolled_at = (select min(enrolled_at) from chain_watch where network = ${network}) as is_old
      from balance_point p join chain_watch w using (network, address)
      where p.network = ${network} and p.reading is not null
        and int8range(p.height + 1, p.reading_height + 1) <@ (
          select coalesce(range_agg(c.heights), '{}') from chain_coverage c
          where c.network = p.network and c.watched >= w.number and c.assets @> array[p.asset]
        )
      order by p.checked_at limit ${limit}
    )
    select network, address, asset, height, balance, reading_height, reading, is_old,
      height = opening_height and opening_is = 'assumed' as is_first,
      known_change(network, address, asset, height, reading_height) as known
    from ready`.execute(db)
  return rows.map((row) => ({
    holding: { network: row.network, address: row.address, asset: row.asset },
    start: toBalance(row.height, row.balance),
    end: toBalance(row.reading_height, row.reading),
    known: BigInt(row.known),
    isFirst: row.is_first,
    isOld: row.is_old,
  }))
}

export async function settleReadings(
  tx: Transaction<Tables>,
  ready: readonly ReadyBalanceSpan[],
): Promise<void> {
  const heights = ready.map(({ end }) => end.height)
  await sql`
    update balance_point p set height = reading_height, balance = reading, reading_height = null, reading = null
    from ${holdingsTable(
      ready.map(({ holding }) => holding),
      sql`${heights}::bigint[]`,
    )}
      as done (network, address, asset, height)
    where (p.network, p.address, p.asset, p.reading_height) = (done.network, done.address, done.asset, done.height)`.execute(
    tx,
  )
}

export async function dropReadings(
  tx: Transaction<Tables>,
  dropped: readonly ReadyBalanceSpan[],
): Promise<void> {
  await sql`
    update balance_point p set reading_height = null, reading = null
    from ${holdingsTable(
      dropped.map(({ holding }) => holding),
      sql`${dropped.map(({ end }) => end.height)}::bigint[]`,
    )} as gone (network, address, asset, height)
    where (p.network, p.address, p.asset, p.reading_height) = (gone.network, gone.address, gone.asset, gone.height)`.execute(
    tx,
  )
}

/** Before its first known change: `read`, or `left` over from its first balance. */
export type OpeningBalance = { holding: AssetHolding; amount: bigint; is: 'read' | 'left' }

export async function setOpenings(
  tx: Transaction<Tables>,
  openings: readonly OpeningBalance[],
): Promise<void> {
  const amounts = openings.map(({ amount }) => amount.toString())
  const sorts = openings.map((opening) => opening.is)
  await sql`
    update balance_point p set opening = o.amount, balance = o.amount, opening_is = o.sort
    from ${holdingsTable(
      openings.map(({ holding }) => holding),
      sql`${amounts}::numeric[], ${sorts}::text[]`,
    )} as o (network, address, asset, amount, sort)
    where (p.network, p.address, p.asset) = (o.network, o.address, o.asset) and p.height = p.opening_height`.execute(
    tx,
  )
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

export type HoldingBlockRange = { holding: AssetHolding; above: bigint; upTo: bigint }

/** In the order of the ranges. */
export async function knownChanges(
  db: Kysely<Tables>,
  ranges: readonly HoldingBlockRange[],
): Promise<bigint[]> {
  const heights = sql`
    ${ranges.map(({ above }) => above)}::bigint[], ${ranges.map(({ upTo }) => upTo)}::bigint[]`
  const { rows } = await sql<{ known: string }>`
    select known_change(network, address, asset, above, up_to) as known
    from ${holdingsTable(
      ranges.map(({ holding }) => holding),
      heights,
    )} with ordinality as block_range (network, address, asset, above, up_to, place) order by place`.execute(
    db,
  )
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

/** Holdings, each with more columns, as a table in a statement. */
export function holdingsTable(
  holdings: readonly AssetHolding[],
  more: RawBuilder<unknown>,
): RawBuilder<unknown> {
  return sql`unnest(
    ${holdings.map(({ network }) => network)}::text[], ${holdings.map(({ address }) => address)}::text[],
    ${holdings.map(({ asset }) => asset)}::text[], ${more}
  )`
}

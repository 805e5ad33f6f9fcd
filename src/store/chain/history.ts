import { type Kysely, sql, type Transaction } from 'kysely'
import type { NetworkName } from '../../core/asset.ts'
import type { Lease } from '../streams.ts'
import type { Tables } from '../tables.ts'

export function backfillStream(network: NetworkName): string {
  return `backfill/${network}`
}

type RangeReadCounts = { startedAt: Date; heights: number; requests: number }

/**
 * Adds up what reading gaps takes, in the progress of the stream, from the first range on until no gap is left. Call it
 * in the transaction that stores the range.
 */
export async function countHistory(
  tx: Transaction<Tables>,
  { stream, fence }: Pick<Lease, 'stream' | 'fence'>,
  { startedAt, heights, requests }: RangeReadCounts,
): Promise<void> {
  await sql`
    update stream set succeeded_at = now(), progress = jsonb_build_object(
      'since', coalesce(counted.so_far -> 'since', to_jsonb(extract(epoch from ${startedAt}::timestamptz))),
      'heights', coalesce((counted.so_far ->> 'heights')::float8, 0) + ${heights}::float8,
      'requests', coalesce((counted.so_far ->> 'requests')::float8, 0) + ${requests}::float8)
    from (
      select case when progress ? 'ended' then '{}' else progress end as so_far from stream where name = ${stream}
    ) counted
    where name = ${stream} and fence = ${fence}`.execute(tx)
}

/** If no gap is left. What claims name was left to this reading, and is due now. */
export async function endHistory(db: Kysely<Tables>, network: NetworkName): Promise<void> {
  await sql`
    with ended as (
      update stream set progress = progress || jsonb_build_object('ended', extract(epoch from now()))
      where name = ${backfillStream(network)} and progress ? 'since' and not progress ? 'ended'
        and not exists (select from chain_gap where network = ${network})
      returning name
    ), transactions as (
      update named_transaction set next_at = now()
      where network = ${network} and tries = 0 and next_at > now() and exists (select from ended)
    )
    update leg_search set next_at = now()
    where network = ${network} and tries = 0 and next_at > now() and exists (select from ended)`.execute(db)
}

/** If so, it finds most of what claims of the past name, with far fewer requests than a search for each. */
export async function isReadingHistory(db: Kysely<Tables>, network: NetworkName): Promise<boolean> {
  const { rows } = await sql`
    select from stream where name = ${backfillStream(network)}
      and progress ? 'since' and not progress ? 'ended' and succeeded_at > now() - interval '10 minutes'`.execute(
    db,
  )
  return rows.length > 0
}

/** How much of the history of the watched addresses was read. */
export type HistoryProgress = {
  network: NetworkName
  /** The lowest height that is watched, and the highest final one that was read. */
  from: bigint
  to: bigint
  /** Heights that were not read for some address. */
  missing: bigint
  /** Of reading them back, so far or the last time; null if there was nothing to read back. */
  requests: number | null
  /** Null if it is not known: nothing is read back now. */
  secondsLeft: number | null
}

export async function readHistory(db: Kysely<Tables>): Promise<HistoryProgress[]> {
  const { rows } = await sql<HistoryProgress>`
    with missing as (
      select network, (select sum(upper(one) - lower(one)) from unnest(range_agg(heights)) one)::int8 as heights
      from chain_gap group by network
    )
    select network, watched.from_height as from, height as to, coalesce(missing.heights, 0) as missing,
      (progress ->> 'requests')::float8 as requests,
      case when missing.heights > 0 and not progress ? 'ended' then
        missing.heights * (extract(epoch from now()) - (progress ->> 'since')::float8)
          / nullif((progress ->> 'heights')::float8, 0) end::float8 as "secondsLeft"
    from chain_network
      join (select network, min(from_height) as from_height from chain_watch group by network) watched using (network)
      left join missing using (network)
      left join stream on stream.name = 'backfill/' || network
    where watched.from_height <= height order by network`.execute(db)
  return rows
}

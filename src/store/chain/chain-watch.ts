import { type Kysely, sql, type Transaction } from 'kysely'
import type { Address, NetworkName } from '../../core/asset.ts'
import type { Tables } from '../tables.ts'

/** `number` is null until reading includes the address; `createdAt` is set only until then. */
export type WatchEntry = { address: Address; role: 'deposit' | 'recipient' } & (
  | { number: number; createdAt: null }
  | { number: null; createdAt: Date }
)

/** Each address once per role. */
export async function readWatchList(db: Kysely<Tables>, network: NetworkName): Promise<WatchEntry[]> {
  const { rows } = await sql<WatchEntry>`
    select book.address, book.role, watch.number,
      case when watch.number is null then least(book.added_at, owner.created_at, forwarding.since) end as "createdAt"
    from address_book book
      left join chain_watch watch on watch.network = book.network and watch.address = book.address
      left join owner on watch.number is null and owner.kind = book.owner_kind and owner.id = book.owner_id
      left join lateral (
        select min(created_at) as since from owner
        where watch.number is null and book.role = 'recipient'
          and forward_network = book.network and forward_recipient = book.address
      ) forwarding on true
    where book.network = ${network} order by book.address`.execute(db)
  return rows
}

export type Enrolment = { addresses: readonly Address[]; fromHeight: bigint }

/**
 * Numbers follow the existing ones. The caller must hold the lease of the network's scan.
 * @returns the highest number; 0 if there is none
 */
export async function enrolAddresses(
  tx: Transaction<Tables>,
  network: NetworkName,
  { addresses, fromHeight }: Enrolment,
): Promise<number> {
  const { rows } = await sql<{ highest: number }>`
    with highest as (select coalesce(max(number), 0) as number from chain_watch where network = ${network}),
    added as (
      insert into chain_watch (network, number, address, from_height)
      select ${network}, highest.number + fresh.place, fresh.address, ${fromHeight}::bigint
      from highest, unnest(${addresses}::text[]) with ordinality as fresh (address, place)
      returning number
    )
    select greatest(highest.number, (select max(number) from added)) as highest from highest`.execute(tx)
  return rows[0]?.highest ?? 0
}

/** For addresses numbered up to `watched`, if `from` is in or right above a range that was read for all of them. */
export async function watchFrom(
  tx: Transaction<Tables>,
  network: NetworkName,
  { from, to, watched }: { from: bigint; to: bigint; watched: number },
): Promise<void> {
  await sql`
    update chain_watch set from_height = ${from}
    where network = ${network} and number <= ${watched}
      and from_height > ${from} and from_height <= ${to}::bigint + 1`.execute(tx)
}

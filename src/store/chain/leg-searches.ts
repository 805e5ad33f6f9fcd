import { type Kysely, sql, type Transaction } from 'kysely'
import type { Address, NetworkName, TxId } from '../../core/asset.ts'
import type { DecidedDeposit } from '../../core/decide.ts'
import type { LegSearch, ServiceId } from '../../core/evidence.ts'
import type { LegSearchRequest } from '../../core/judging/overdue.ts'
import type { DecidedWithdrawal } from '../../core/withdrawals.ts'
import { asTable } from '../database.ts'
import { appendObservations } from '../inbox.ts'
import type { Tables } from '../tables.ts'
import { askForTransactions } from './named-transactions.ts'

type ChainReadContext = { now: Date; readNetworks: ReadonlySet<NetworkName> }

type AskingForChains = {
  deposits: readonly Pick<DecidedDeposit, 'evidence' | 'verdict' | 'unseen'>[]
  withdrawals: readonly Pick<DecidedWithdrawal, 'unseen'>[]
}

/** @returns the networks that have something new to read */
export async function askChains(
  tx: Transaction<Tables>,
  { deposits, withdrawals }: AskingForChains,
  asking: ChainReadContext,
): Promise<NetworkName[]> {
  const { now, readNetworks } = asking
  const unseen = deposits.flatMap((one) => one.unseen).filter(({ network }) => readNetworks.has(network))
  // Nothing else looks for them: they wait until their network is read.
  const paidOut = withdrawals.flatMap((one) => one.unseen)
  const searched = await askForSearches(tx, deposits, asking)
  const named = await askForTransactions(tx, [...unseen, ...paidOut], now)
  return [...named.filter((network) => readNetworks.has(network)), ...searched]
}

type ServiceLegSearch = LegSearchRequest & { serviceId: ServiceId }

/**
 * Skips a leg if its last search was late enough. That a network is not read is recorded as evidence; once it is read,
 * the search is due.
 * @returns the networks on which a search is due now
 */
async function askForSearches(
  tx: Transaction<Tables>,
  deposits: readonly Pick<DecidedDeposit, 'evidence' | 'verdict'>[],
  { now, readNetworks }: ChainReadContext,
): Promise<NetworkName[]> {
  const wanted = deposits.flatMap(({ evidence: { serviceId }, verdict }) =>
    serviceId === null ? [] : verdict.searches.map((one): ServiceLegSearch => ({ ...one, serviceId })),
  )
  if (wanted.length === 0) return []
  const asked = await noteSearches(tx, wanted, now)
  const unread = asked.filter(({ network }) => !readNetworks.has(network))
  const nothing = { nodes: [], found: null, claimed: null, read: null, bookedAt: null }
  await appendSearches(
    tx,
    unread.map(({ serviceId, role, network, address: to, tx: named }): LegSearch => {
      const leg = { serviceId, role, network, to, tx: named }
      return { kind: 'search', ...leg, ...nothing, isUnread: true, receivedAt: now }
    }),
  )
  return [...new Set(asked.map(({ network }) => network))].filter((network) => readNetworks.has(network))
}

/** @returns searches that are new, or due again */
async function noteSearches(
  tx: Transaction<Tables>,
  wanted: readonly ServiceLegSearch[],
  now: Date,
): Promise<DueLegSearch[]> {
  const { rows } = await sql<DueLegSearch>`
    insert into leg_search as known (service_id, role, network, address, tx, from_at, next_at)
    select distinct on ("serviceId", role, network, address, tx) "serviceId", role, network, address, tx,
      "from", ${now}::timestamptz
    from ${asTable('one', wanted, searchColumns)}
    where not exists (
      select from leg_search done
      where (done.service_id, done.role, done.network, done.address) = (one."serviceId", one.role, one.network, one.address)
        and done.tx is not distinct from one.tx
        and (done.searched_at >= one."notBefore" or done.next_at <= ${now})
    )
    order by "serviceId", role, network, address, tx
    on conflict (service_id, role, network, address, tx) do update set next_at = excluded.next_at
    returning ${dueColumns}`.execute(tx)
  return rows
}

const searchColumns =
  'serviceId text, role text, network text, address text, tx text, from timestamptz, notBefore timestamptz'

export type DueLegSearch = Pick<LegSearch, 'serviceId' | 'role' | 'network'> & {
  address: Address
  tx: TxId | null
  from: Date
}

const dueColumns = sql`known.service_id as "serviceId", known.role, known.network, known.address, known.tx, known.from_at as "from"`

/** Postpones the next attempt; the pause doubles with every attempt. */
export async function takeDueSearches(
  db: Kysely<Tables>,
  { network, now }: { network: NetworkName; now: Date },
  { rowsMax, firstPauseMs }: { rowsMax: number; firstPauseMs: number },
): Promise<DueLegSearch[]> {
  const { rows } = await sql<DueLegSearch>`
    with due as (
      select ctid from leg_search where network = ${network} and next_at <= ${now}
      order by next_at limit ${rowsMax} for update skip locked
    )
    update leg_search as known set tries = known.tries + 1, searched_at = ${now}, next_at = ${now}::timestamptz
      + ${firstPauseMs} * power(2, least(known.tries, 30)) * interval '1 millisecond'
    from due where known.ctid = due.ctid
    returning ${dueColumns}`.execute(db)
  return rows
}

/**
 * Deletes searches whose leg was shown by now.
 * @returns how many others are due, counted up to a limit
 */
export async function dropShown(
  db: Kysely<Tables>,
  { network, now }: { network: NetworkName; now: Date },
  countMax: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with shown as (
      select leg_search.ctid from leg_search join deposit using (service_id)
      where leg_search.network = ${network} and merged_into is null
        and case role when 'deposit' then chain_at else settled_at end is not null
    ), dropped as (
      delete from leg_search where ctid in (select ctid from shown)
    ), due as (
      select from leg_search where network = ${network} and next_at <= ${now} and ctid not in (select ctid from shown)
      limit ${countMax}
    )
    select count(*)::int as count from due`.execute(db)
  return rows[0]?.count ?? 0
}

export async function putOffSearches(
  db: Kysely<Tables>,
  { network, now }: { network: NetworkName; now: Date },
  byMs: number,
): Promise<void> {
  await sql`
    update leg_search set next_at = ${new Date(now.getTime() + byMs)}
    where network = ${network} and next_at <= ${now}`.execute(db)
}

export async function searchAgain(
  tx: Kysely<Tables>,
  places: readonly { network: NetworkName; address: Address }[],
): Promise<void> {
  await sql`
    update leg_search set next_at = now(), tries = 0 where (network, address) in (
      select * from ${asTable('place', places, 'network text, address text')}
    )`.execute(tx)
}

export type ReadHeights = { bookedAt: Date | null; from: bigint | null; to: bigint | null }

export async function readHeightsOf(
  db: Kysely<Tables>,
  { network, address }: { network: NetworkName; address: Address },
): Promise<ReadHeights> {
  const { rows } = await sql<ReadHeights>`
    with watched as (
      select watch.number, watch.from_height, standing.height, standing.assets
      from chain_watch watch join chain_network standing using (network)
      where network = ${network} and address = ${address}
    ), newest as (
      select block_range from watched, unnest((
        select range_agg(heights) from chain_coverage covered
        where covered.network = ${network} and covered.watched >= watched.number and covered.assets @> watched.assets
      ) * int8multirange(int8range(watched.from_height, watched.height + 1))) block_range
      order by block_range desc limit 1
    )
    select (
      select min(least(book.added_at, owner.created_at)) from address_book book
        left join owner on owner.kind = book.owner_kind and owner.id = book.owner_id
      where book.network = ${network} and book.address = ${address}
    ) as "bookedAt", lower(block_range) as from, upper(block_range) - 1 as to
    from (values (1)) as one left join newest on true`.execute(db)
  return rows[0] ?? { bookedAt: null, from: null, to: null }
}

export async function appendSearches(
  tx: Transaction<Tables>,
  searches: readonly LegSearch[],
): Promise<number> {
  const keyed = searches.map((one) => [keyOf(one), one] as const)
  return (await appendObservations(tx, 'chain', keyed)).length
}

function keyOf({ network, role, to, tx, serviceId, receivedAt }: LegSearch): string {
  return `${network}/${tx ?? ''}/searched/${role}/${to}/${serviceId}/${receivedAt.getTime()}`
}

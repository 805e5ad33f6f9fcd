import { type Kysely, sql, type Transaction } from 'kysely'
import type { NetworkName } from '../../core/asset.ts'
import type { TransactionFailure } from '../../core/evidence.ts'
import type { NamedTransaction } from '../../core/judging/named-transactions.ts'
import { asTable } from '../database.ts'
import { appendObservations } from '../inbox.ts'
import type { Tables } from '../tables.ts'

/**
 * Those queued before do not change.
 * @returns the networks that have something new to read
 */
export async function askForTransactions(
  tx: Transaction<Tables>,
  named: readonly NamedTransaction[],
  now: Date,
): Promise<NetworkName[]> {
  if (named.length === 0) return []
  const { rows } = await sql<{ network: NetworkName }>`
    insert into named_transaction (network, tx, role, address, next_at)
    select distinct *, ${now}::timestamptz from ${listed(named)} order by 1, 2, 3, 4
    on conflict do nothing returning network`.execute(tx)
  return [...new Set(rows.map(({ network }) => network))]
}

/** For transactions that are on their chain although reading them was given up. */
export async function renewTransactions(
  tx: Transaction<Tables>,
  named: readonly NamedTransaction[],
  now: Date,
): Promise<void> {
  await sql`
    insert into named_transaction (network, tx, role, address, next_at)
    select distinct *, ${now}::timestamptz from ${listed(named)} order by 1, 2, 3, 4
    on conflict (network, tx, role, address) do update set next_at = excluded.next_at, tries = 0`.execute(tx)
}

export type DueTransaction = NamedTransaction & {
  /** Including this one. */
  tries: number
}

type DueTransactionFilter = { network: NetworkName; now: Date }

/**
 * Deletes those whose chain transfer was found and not withdrawn.
 * @returns how many others are due, counted up to a limit
 */
export async function dropSeen(
  db: Kysely<Tables>,
  { network, now }: DueTransactionFilter,
  countMax: number,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    with due as (
      select *, case role when 'deposit' then concat_ws('/', 'in', tx, address)
        else concat_ws('/', 'out', tx) end as key
      from named_transaction where network = ${network} and next_at <= ${now}
    ), seen as (
      select * from due where exists (
        select from link_key join evidence using (group_id)
        where link_key.key = due.key and observation ->> 'kind' = 'chain_transfer'
          and observation ->> 'role' = due.role and observation ->> 'tx' = due.tx
          and observation ->> 'network' = due.network
          and (due.role = 'deposit' or observation ->> 'to' = due.address)
        having bool_and(observation ->> 'stage' <> 'orphaned')
      )
    ), dropped as (
      delete from named_transaction where (network, tx, role, address) in (select network, tx, role, address from seen)
    )
    select least((select count(*) from due) - (select count(*) from seen),
      ${countMax})::int as count`.execute(db)
  return rows[0]?.count ?? 0
}

/** Oldest first. Postpones the next attempt; the pause doubles with every attempt, up to `longestMs`. */
export async function takeDueTransactions(
  db: Kysely<Tables>,
  { network, now }: DueTransactionFilter,
  { rowsMax, pause }: { rowsMax: number; pause: { firstMs: number; longestMs: number } },
): Promise<DueTransaction[]> {
  const { rows } = await sql<DueTransaction>`
    with due as (
      select * from named_transaction where network = ${network} and next_at <= ${now}
      order by next_at limit ${rowsMax} for update skip locked
    )
    update named_transaction as taken set tries = taken.tries + 1, next_at = ${now}::timestamptz
      + least(${pause.firstMs} * power(2, least(taken.tries, 30)), ${pause.longestMs}) * interval '1 millisecond'
    from due where (taken.network, taken.tx, taken.role, taken.address) = (due.network, due.tx, due.role, due.address)
    returning taken.network, taken.tx, taken.role, taken.address, taken.tries`.execute(db)
  return rows
}

export async function putOffTransactions(
  db: Kysely<Tables>,
  { network, now }: DueTransactionFilter,
  byMs: number,
): Promise<void> {
  await sql`
    update named_transaction set next_at = ${new Date(now.getTime() + byMs)}
    where network = ${network} and next_at <= ${now} and tries = 0`.execute(db)
}

export async function dueNetworks(
  db: Kysely<Tables>,
  read: readonly NetworkName[],
  now: Date,
): Promise<NetworkName[]> {
  const { rows } = await sql<{ network: NetworkName }>`
    select network from unnest(${read}::text[]) as one (network)
    where exists (select from named_transaction named where named.network = one.network and next_at <= ${now})
      or exists (select from leg_search search where search.network = one.network and next_at <= ${now})`.execute(
    db,
  )
  return rows.map(({ network }) => network)
}

/** So that they can be queued again. */
export async function dropTransactions(
  tx: Transaction<Tables>,
  found: readonly NamedTransaction[],
): Promise<void> {
  await sql`delete from named_transaction
    where (network, tx, role, address) in (select * from ${listed(found)})`.execute(tx)
}

/** Another reading would show nothing new. */
export async function endTransactions(
  tx: Transaction<Tables>,
  ended: readonly NamedTransaction[],
): Promise<void> {
  await sql`
    update named_transaction set next_at = null
    where (network, tx, role, address) in (select * from ${listed(ended)})`.execute(tx)
}

/** Skips those stored before. */
export async function appendFailures(
  tx: Transaction<Tables>,
  failures: readonly TransactionFailure[],
): Promise<number> {
  const keyed = failures.map((one) => [keyOf(one), one] as const)
  return (await appendObservations(tx, 'chain', keyed)).length
}

function keyOf({ network, tx, role, to }: TransactionFailure): string {
  return `${network}/${tx}/failed/${role}/${to}`
}

function listed(named: readonly NamedTransaction[]) {
  return asTable('named', named, 'network text, tx text, role text, address text')
}

import { type Kysely, sql, type Transaction } from 'kysely'
import type { NetworkName, TxId } from '../core/asset.ts'
import type { Failure } from '../core/evidence.ts'
import type { NamedTransaction } from '../core/named-transactions.ts'
import { encodeObservation } from '../core/observation-json.ts'
import { appendInbox } from './inbox.ts'
import type { Tables } from './tables.ts'

/**
 * Has transactions read by their names. Those that were asked for before stay as they are.
 * @returns the networks on which something new is to be read
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

export type DueTransaction = NamedTransaction & {
  /** How often it was read, this time included. */
  tries: number
  /** A transfer of it was found meanwhile, and not taken back. */
  isSeen: boolean
}

/** Takes those whose time has come, and puts their next time off: the longer, the more often they were read. */
export async function takeDueTransactions(
  db: Kysely<Tables>,
  network: NetworkName,
  { now, rowsMax, pause }: { now: Date; rowsMax: number; pause: { firstMs: number; longestMs: number } },
): Promise<DueTransaction[]> {
  const { rows } = await sql<DueTransaction>`
    with due as (
      select * from named_transaction where network = ${network} and next_at <= ${now}
      order by next_at limit ${rowsMax} for update skip locked
    )
    update named_transaction as taken set tries = taken.tries + 1, next_at = ${now}::timestamptz
      + least(${pause.firstMs} * power(2, least(taken.tries, 30)), ${pause.longestMs}) * interval '1 millisecond'
    from due where (taken.network, taken.tx, taken.role, taken.address) = (due.network, due.tx, due.role, due.address)
    returning taken.network, taken.tx, taken.role, taken.address, taken.tries, exists (
      select from link_key join evidence using (group_id)
      where link_key.key = case taken.role
          when 'deposit' then concat_ws('/', 'in', taken.network, taken.tx, taken.address)
          else concat_ws('/', 'out', taken.network, taken.tx) end
        and observation ->> 'kind' = 'sighting' and observation ->> 'role' = taken.role and observation ->> 'tx' = taken.tx
      having bool_and(observation ->> 'stage' <> 'orphaned')
    ) as "isSeen"`.execute(db)
  return rows
}

/** The networks on which the time of some has come. */
export async function dueNetworks(db: Kysely<Tables>, now: Date): Promise<NetworkName[]> {
  const rows = await db
    .selectFrom('named_transaction')
    .select('network')
    .distinct()
    .where('next_at', '<=', now)
    .execute()
  return rows.map(({ network }) => network as NetworkName)
}

/** Drops those that a transfer was found of: without it they may be asked for again. */
export async function dropTransactions(
  tx: Transaction<Tables>,
  found: readonly NamedTransaction[],
): Promise<void> {
  await sql`delete from named_transaction where (network, tx, role, address) in (select * from ${listed(found)})`.execute(
    tx,
  )
}

/** Keeps those that reading again would show nothing new of. */
export async function endTransactions(
  tx: Transaction<Tables>,
  ended: readonly NamedTransaction[],
): Promise<void> {
  await sql`
    update named_transaction set next_at = null
    where (network, tx, role, address) in (select * from ${listed(ended)})`.execute(tx)
}

/** Appends to the inbox that transactions failed. One that was stored before is left out. */
export async function appendFailures(tx: Transaction<Tables>, failures: readonly Failure[]): Promise<number> {
  if (failures.length === 0) return 0
  const added = await appendInbox(
    tx,
    failures.map((failure) => ({
      source: 'chain' as const,
      sourceKey: keyOf(failure),
      body: Buffer.from(encodeObservation(failure)),
      headers: {},
      receivedAt: failure.receivedAt,
    })),
  )
  return added.size
}

function keyOf({ network, tx, role, to }: Failure): string {
  return `${network}/${tx}/failed/${role}/${to}`
}

function listed(named: readonly NamedTransaction[]) {
  return sql`unnest(
    ${named.map(({ network }) => network)}::text[], ${named.map(({ tx }): TxId => tx)}::text[],
    ${named.map(({ role }) => role)}::text[], ${named.map(({ address }) => address)}::text[]
  )`
}

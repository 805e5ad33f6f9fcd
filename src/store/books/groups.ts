import { type Kysely, sql, type Transaction } from 'kysely'
import { assert, Fault } from '../../core/errors.ts'
import { components } from '../../core/matching/components.ts'
import { asTable } from '../database.ts'
import type { Tables } from '../tables.ts'

/**
 * Finds, creates and merges groups, and locks all of them.
 * @param keysOfItems the linking keys of each observation; none is empty
 * @returns the group id of each observation
 * @throws Fault `conflict` if another transaction changed the same keys in the meantime; run it again
 */
export async function linkGroups(
  tx: Transaction<Tables>,
  keysOfItems: readonly (readonly string[])[],
): Promise<bigint[]> {
  const known = await lockKnownGroups(tx, [...new Set(keysOfItems.flat())])
  // By a common key, or by a group that holds keys of both.
  const parts = components(keysOfItems, (keys) => [
    ...keys,
    ...groupsOf(keys, known).map((id) => `group/${id}`),
  ]).map((items) => {
    const keys = [...new Set(items.flat())]
    return { items, keys, groups: groupsOf(keys, known) }
  })
  const newIds = (await makeGroups(tx, parts.filter(({ groups }) => groups.length === 0).length)).values()
  const linked = parts.map(({ items, keys, groups }) => {
    const [id = newIds.next().value, ...others] = groups
    assert(id !== undefined, 'every component has a group')
    return { id, others, items, newKeys: keys.filter((key) => !known.has(key)) }
  })
  await insertKeys(
    tx,
    linked.flatMap(({ id, newKeys }) => newKeys.map((key) => ({ key, id }))),
  )
  await mergeGroups(
    tx,
    linked.flatMap(({ id, others }) => others.map((from) => ({ from, into: id }))),
  )
  const groupOfItem = new Map(linked.flatMap(({ id, items }) => items.map((item) => [item, id] as const)))
  return keysOfItems.map((keys) => groupOfItem.get(keys) ?? 0n)
}

/** Distinct, oldest first. */
function groupsOf(keys: readonly string[], known: ReadonlyMap<string, bigint>): bigint[] {
  const groups = keys.map((key) => known.get(key)).filter((id) => id !== undefined)
  return [...new Set(groups)].toSorted(byId)
}

/**
 * Before anything is written: writing a key takes a weaker lock on its group, and two transactions that hold it and
 * request the stronger one would deadlock.
 */
async function lockKnownGroups(
  tx: Transaction<Tables>,
  keys: readonly string[],
): Promise<Map<string, bigint>> {
  const known = await lockGroupsOfKeys(tx, keys)
  const now = await groupsOfKeys(tx, [...known.keys()])
  if ([...known].some(([key, id]) => now.get(key) !== id))
    throw new Fault('conflict', { what: 'linking keys' })
  return known
}

/** Skips groups that another transaction has locked. */
export async function takeDueGroups(
  tx: Transaction<Tables>,
  now: Date,
  groupsMax: number,
): Promise<bigint[]> {
  const { rows } = await sql<{ id: bigint }>`
    select id from evidence_group where recheck_at <= ${now}
    order by recheck_at limit ${groupsMax} for update skip locked`.execute(tx)
  return rows.map(({ id }) => id)
}

/** A time up to which everything stored until now was received: `now`, or later by a clock that is ahead. */
export async function readReceived(db: Kysely<Tables>, now: Date): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`
    select greatest(${now}::timestamptz, (select max(received_at) from inbox_pending)) as at`.execute(db)
  return rows[0]?.at ?? now
}

/**
 * Of what was received up to then: `rows` of the inbox that are not applied yet, and `groups` that are due for a decision.
 * Rows that arrived before the last balance of a StableWallet was read also count: it may contain them.
 */
export async function countUndecided(
  db: Kysely<Tables>,
  received: Date,
): Promise<{ rows: number; groups: number }> {
  const { rows } = await sql<{ rows: number; groups: number }>`
    select (
        select count(*)::int from inbox_pending
        where received_at <= greatest(${received}, (select max(read_at) from wallet_balance))
      ) as rows,
      (select count(*)::int from evidence_group where recheck_at <= ${received}) as groups`.execute(db)
  return rows[0] ?? { rows: 0, groups: 0 }
}

/** Per transaction; groups stay locked until it ends. */
const markedMax = 10_000

/** Unless a group is due earlier. */
export async function markAllDue(db: Kysely<Tables>, at: Date): Promise<void> {
  let after: bigint | null = 0n
  while (after !== null) after = await markDue(db, after, at)
}

/** @returns the last group of the batch; null after the last batch */
async function markDue(db: Kysely<Tables>, after: bigint, at: Date): Promise<bigint | null> {
  const { rows } = await sql<{ last: bigint | null }>`
    with batch as (
      select id from evidence_group where id > ${after} order by id limit ${markedMax} for update
    ), marked as (
      update evidence_group set recheck_at = ${at} from batch
      where evidence_group.id = batch.id and (recheck_at is null or recheck_at > ${at})
    )
    select max(id) as last from batch`.execute(db)
  return rows[0]?.last ?? null
}

export async function saveRechecks(
  tx: Transaction<Tables>,
  rechecks: readonly { groupId: bigint; at: Date | null }[],
): Promise<void> {
  await sql`
    update evidence_group set recheck_at = due.at
    from ${asTable('due', rechecks, 'groupId bigint, at timestamptz')}
    where id = due."groupId" and recheck_at is distinct from due.at`.execute(tx)
}

async function lockGroupsOfKeys(
  tx: Transaction<Tables>,
  keys: readonly string[],
): Promise<Map<string, bigint>> {
  const { rows } = await sql<{ key: string; group_id: bigint }>`
    with known as (
      select key, group_id from link_key where key = any(${keys}::text[])
    ), locked as (
      select from evidence_group where id in (select group_id from known) order by id for update
    )
    select key, group_id from known where (select count(*) from locked) > 0`.execute(tx)
  return new Map(rows.map(({ key, group_id }) => [key, group_id]))
}

async function groupsOfKeys(tx: Transaction<Tables>, keys: readonly string[]): Promise<Map<string, bigint>> {
  const { rows } = await sql<{ key: string; group_id: bigint }>`
    select key, group_id from link_key
    where key = any(${keys}::text[])`.execute(tx)
  return new Map(rows.map(({ key, group_id }) => [key, group_id]))
}

async function makeGroups(tx: Transaction<Tables>, count: number): Promise<bigint[]> {
  if (count === 0) return []
  const { rows } = await sql<{ id: bigint }>`
    insert into evidence_group (recheck_at) select null
    from generate_series(1, ${count}) returning id`.execute(tx)
  return rows.map(({ id }) => id)
}

async function insertKeys(
  tx: Transaction<Tables>,
  links: readonly { key: string; id: bigint }[],
): Promise<void> {
  if (links.length === 0) return
  const sorted = links.toSorted((left, right) => (left.key < right.key ? -1 : 1))
  const { numAffectedRows } = await sql`
    insert into link_key (key, group_id)
    select key, id
    from ${asTable('link', sorted, 'key text, id bigint')}
    on conflict (key) do nothing`.execute(tx)
  if (numAffectedRows !== BigInt(links.length)) throw new Fault('conflict', { what: 'linking keys' })
}

export async function lockGroups(tx: Transaction<Tables>, ids: readonly bigint[]): Promise<void> {
  await sql`select 1 from evidence_group where id = any(${ids}::bigint[]) order by id for update`.execute(tx)
}

async function mergeGroups(
  tx: Transaction<Tables>,
  merges: readonly { from: bigint; into: bigint }[],
): Promise<void> {
  if (merges.length === 0) return
  const moved = sql`set group_id = pair.into from pair where group_id = pair.from`
  await sql`
    with pair as materialized (select * from ${asTable('pair', merges, 'from bigint, into bigint')}),
      keys as (update link_key ${moved}),
      observations as (update evidence ${moved}),
      deposits as (update deposit ${moved}),
      withdrawals as (update withdrawal ${moved}),
      mismatches as (update mismatch ${moved})
    update evidence_group set recheck_at = null from pair where id = pair.from`.execute(tx)
}

function byId(left: bigint, right: bigint): number {
  return left < right ? -1 : 1
}

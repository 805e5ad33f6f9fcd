import { type Kysely, sql, type Transaction } from 'kysely'
import { Fault } from '../core/errors.ts'
import type { Tables } from './tables.ts'

/**
 * A lease that lasts for so much longer than the one asked for was given before the database's clock was set back, and
 * must not keep everybody waiting until that is there again. More than any two leases of a stream differ by; and more than
 * two who want it at once, since the time of one may be read before the other has it.
 */
const setBack = sql`stream.expires_at > excluded.expires_at + interval '2 minutes'`

/** Ticks are rows without a holder. */
const tickPrefix = 'tick/'

/** The right to move one stream's cursor, until it expires or somebody else takes it. */
export type Lease = { stream: string; holder: string; fence: bigint; cursor: unknown }

/**
 * Takes or renews a stream's lease.
 * @returns null while somebody else holds it.
 */
export async function takeLease(
  db: Kysely<Tables>,
  { stream, holder, ttlMs }: { stream: string; holder: string; ttlMs: number },
): Promise<Lease | null> {
  const { rows } = await sql<{ fence: bigint; cursor: unknown }>`
    insert into stream (name, holder, fence, expires_at)
    values (${stream}, ${holder}, 1, now() + ${ttlMs} * interval '1 millisecond')
    on conflict (name) do update
      set holder = excluded.holder, expires_at = excluded.expires_at,
        fence = stream.fence + (stream.holder is distinct from excluded.holder)::int
      where stream.holder is not distinct from excluded.holder or stream.expires_at < now() or ${setBack}
    returning fence, cursor`.execute(db)
  const [row] = rows
  return row === undefined ? null : { stream, holder, ...row }
}

/** Takes a stream from whoever has it: what that one is reading now is not stored. For a person who knows why. */
export async function seizeLease(
  db: Kysely<Tables>,
  { stream, holder, ttlMs }: { stream: string; holder: string; ttlMs: number },
): Promise<Lease> {
  const { rows } = await sql<{ fence: bigint; cursor: unknown }>`
    insert into stream (name, holder, fence, expires_at)
    values (${stream}, ${holder}, 1, now() + ${ttlMs} * interval '1 millisecond')
    on conflict (name) do update
      set holder = excluded.holder, expires_at = excluded.expires_at, fence = stream.fence + 1
    returning fence, cursor`.execute(db)
  const [row = { fence: 0n, cursor: null }] = rows
  return { stream, holder, ...row }
}

type CursorUpdate = { cursor: unknown; progress: Record<string, number>; isBehind?: boolean }

/**
 * Moves the cursor in the transaction that stores what was read up to it. Where there is more to be read, the stream
 * has not been read completely, however often it moves.
 * @throws Fault `lease_lost` where somebody else took the stream meanwhile; nothing is written then.
 */
export async function moveCursor(
  tx: Transaction<Tables>,
  { stream, holder, fence }: Lease,
  { cursor, progress, isBehind = false }: CursorUpdate,
): Promise<void> {
  const { numAffectedRows } = await sql`
    update stream set cursor = ${JSON.stringify(cursor)}::jsonb, progress = ${JSON.stringify(progress)}::jsonb,
      succeeded_at = case when ${isBehind} then succeeded_at else now() end
    where name = ${stream} and holder = ${holder} and fence = ${fence}`.execute(tx)
  if (numAffectedRows !== 1n) throw new Fault('lease_lost', { stream })
}

/**
 * Renews a lease in the transaction that writes under it, before the cursor is moved. A process may run the same job
 * twice at once, where it was stopped for longer than the queue waits: then the cursor tells that the other one ended.
 * @throws Fault `lease_lost` where somebody else took the stream, or moved it on, meanwhile; nothing is written then.
 */
export async function keepLease(
  tx: Transaction<Tables>,
  { stream, holder, fence, cursor }: Lease,
  ttlMs: number,
): Promise<void> {
  const { numAffectedRows } = await sql`
    update stream set expires_at = now() + ${ttlMs} * interval '1 millisecond'
    where name = ${stream} and holder = ${holder} and fence = ${fence}
      and cursor is not distinct from ${cursor === null ? null : JSON.stringify(cursor)}::jsonb`.execute(tx)
  if (numAffectedRows !== 1n) throw new Fault('lease_lost', { stream })
}

/**
 * One of all schedulers that tick at about the same time has a tick; by the database's clock, since theirs differ.
 * @param quietMs for so long after it nobody has the next one
 * @returns the number of the claim, from 1; null where the tick is somebody else's
 */
export async function claimTick(
  db: Kysely<Tables>,
  { tick, quietMs }: { tick: string; quietMs: number },
): Promise<bigint | null> {
  const { rows } = await sql<{ fence: bigint }>`
    insert into stream (name, fence, expires_at)
    values (${tickPrefix + tick}, 1, now() + ${quietMs}::float8 * interval '1 millisecond')
    on conflict (name) do update set fence = stream.fence + 1, expires_at = excluded.expires_at
      where stream.expires_at < now() or ${setBack}
    returning fence`.execute(db)
  return rows[0]?.fence ?? null
}

/** Leaves a tick that was not done to whoever takes it up: one of that claim, or one whose claim has run out. */
export async function giveBackTick(
  db: Kysely<Tables>,
  { tick, claim }: { tick: string; claim: bigint },
): Promise<void> {
  await sql`
    insert into stream (name, fence, expires_at) values (${tickPrefix + tick}, 0, '-infinity')
    on conflict (name) do update set expires_at = excluded.expires_at
      where stream.fence = ${claim} or stream.expires_at < now()`.execute(db)
}

export async function ticksGivenBack(db: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ tick: string }>`
    select substr(name, ${tickPrefix.length + 1}::int) as tick from stream
    where starts_with(name, ${tickPrefix}) and expires_at = '-infinity'`.execute(db)
  return rows.map(({ tick }) => tick)
}

/** The database's time, and on from there by a clock that nobody sets: those of processes differ, and are set. */
export async function readClock(db: Kysely<Tables>): Promise<() => Date> {
  const { rows } = await sql<{ time: Date }>`select clock_timestamp() as time`.execute(db)
  const ahead = (rows[0]?.time.getTime() ?? Date.now()) - performance.now()
  return () => new Date(ahead + performance.now())
}

/** A stream's cursor, null where it has none yet. In a transaction, it stays as it is until that ends. */
export async function readCursor(db: Kysely<Tables>, stream: string): Promise<unknown> {
  const { rows } = await sql<{ cursor: unknown }>`
    select cursor from stream where name = ${stream} for share`.execute(db)
  return rows[0]?.cursor ?? null
}

/** Gives one back, so that whoever wants it next need not wait for it to expire. */
export async function releaseLease(db: Kysely<Tables>, { stream, holder, fence }: Lease): Promise<void> {
  await sql`
    update stream set holder = null, expires_at = '-infinity'
    where name = ${stream} and holder = ${holder} and fence = ${fence}`.execute(db)
}

/** Does what the lease is for. Where that fails, it is given back: another process may reach what this one does not. */
export async function underLease<Result>(
  db: Kysely<Tables>,
  lease: Lease,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (fault) {
    await releaseLease(db, lease).catch(() => undefined)
    throw fault
  }
}

/** Gives back all that this holder has, so that another process need not wait for it to expire. */
export async function releaseLeases(db: Kysely<Tables>, holder: string): Promise<void> {
  await db
    .updateTable('stream')
    .set({ holder: null, expires_at: new Date(0) })
    .where('holder', '=', holder)
    .execute()
}

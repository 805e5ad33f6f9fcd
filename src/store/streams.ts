import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { assert, Fault } from '../core/errors.ts'
import type { Tables } from './tables.ts'

/**
 * A lease this much longer than the requested one was granted before the database's clock was set back, and must not
 * block all others until it catches up. Leases of a stream, and concurrent requests, differ by less.
 */
const setBack = sql`stream.expires_at > excluded.expires_at + interval '2 minutes'`

const tickPrefix = 'tick/'

export type Lease = { stream: string; holder: string; fence: bigint; cursor: unknown }

type LeaseRequest = { stream: string; holder: string; ttlMs: number }

/** @returns null if another holder has it */
export function takeLease(db: Kysely<Tables>, request: LeaseRequest): Promise<Lease | null> {
  return leaseIf(db, request, sql`stream.expires_at < now() or ${setBack}`)
}

/** Takes a stream from its holder, whose reading in progress is not stored. For an operator. */
export async function seizeLease(db: Kysely<Tables>, request: LeaseRequest): Promise<Lease> {
  const lease = await leaseIf(db, request, sql`true`)
  assert(lease !== null, 'a stream can be taken from any holder')
  return lease
}

/** Its holder may extend it. */
async function leaseIf(
  db: Kysely<Tables>,
  { stream, holder, ttlMs }: LeaseRequest,
  isFree: RawBuilder<unknown>,
): Promise<Lease | null> {
  const { rows } = await sql<{ fence: bigint; cursor: unknown }>`
    insert into stream (name, holder, fence, expires_at)
    values (${stream}, ${holder}, 1, now() + ${ttlMs} * interval '1 millisecond')
    on conflict (name) do update
      set holder = excluded.holder, expires_at = excluded.expires_at,
        fence = stream.fence + (stream.holder is distinct from excluded.holder)::int
      where stream.holder is not distinct from excluded.holder or ${isFree}
    returning fence, cursor`.execute(db)
  const [row] = rows
  return row === undefined ? null : { stream, holder, ...row }
}

type CursorUpdate = { cursor: unknown; progress: Record<string, number>; isBehind?: boolean }

/**
 * Call it in the transaction that stores what was read. If `isBehind`, the stream does not count as read completely.
 * @throws Fault `lease_lost` if another holder took the stream; nothing is written then
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
 * Call it in the transaction that writes under the lease. A process that stalled may run a job twice at once; the
 * cursor shows that the other run ended.
 * @throws Fault `lease_lost` if another holder took the stream, or moved its cursor; nothing is written then
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
 * Lets one of all schedulers tick. Uses the database's clock, since theirs differ.
 * @param quietMs how long after the claim the next one is refused
 * @returns the number of the claim, from 1; null if another scheduler has the tick
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

/** Releases a tick that was not done, if it has that claim or its claim has expired. */
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

/** The database's time, continued by a monotonic clock: clocks of processes differ and can be adjusted. */
export async function readClock(db: Kysely<Tables>): Promise<() => Date> {
  const { rows } = await sql<{ time: Date }>`select clock_timestamp() as time`.execute(db)
  const ahead = (rows[0]?.time.getTime() ?? Date.now()) - performance.now()
  return () => new Date(ahead + performance.now())
}

/** Whether the work of this stream was done after that time. */
export async function hasSucceeded(db: Kysely<Tables>, stream: string, since: Date): Promise<boolean> {
  const { rows } = await sql`
    select from stream where name = ${stream} and succeeded_at > ${since}`.execute(db)
  return rows.length > 0
}

/** Null if it has none yet. In a transaction, it cannot change until the end. */
export async function readCursor(db: Kysely<Tables>, stream: string): Promise<unknown> {
  const { rows } = await sql<{ cursor: unknown }>`
    select cursor from stream where name = ${stream} for share`.execute(db)
  return rows[0]?.cursor ?? null
}

export async function releaseLease(db: Kysely<Tables>, { stream, holder, fence }: Lease): Promise<void> {
  await sql`
    update stream set holder = null, expires_at = '-infinity'
    where name = ${stream} and holder = ${holder} and fence = ${fence}`.execute(db)
}

/** Releases the lease if the work fails: another process may reach a server that this one cannot. */
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

export async function releaseLeases(db: Kysely<Tables>, holder: string): Promise<void> {
  await sql`update stream set holder = null, expires_at = '-infinity' where holder = ${holder}`.execute(db)
}

/**
 * `digest`: null while people have approved none. `isApplied`: all groups decided by earlier rules are marked for a
 * recheck. `waiting`: the digest of the rules of the settings, while they wait for approval.
 */
export type ActiveRules = { digest: string | null; isApplied: boolean; waiting?: string | undefined }

/** Stored as the cursor of a stream without leases. */
const rulesStream = 'policy'

/** Null before any rules were activated. In a transaction, they cannot change until the end. */
export async function activeRules(db: Kysely<Tables>): Promise<ActiveRules | null> {
  return (await readCursor(db, rulesStream)) as ActiveRules | null
}

/** `rules` is the JSON of `writeRuleSet`. The people are null if the settings alone made them active. */
export type StoredRuleSet = {
  id: string
  rules: string
  since: Date
  requestedBy: string | null
  approvedBy: string | null
  decision: bigint | null
}

/** The newest first: that one is active. */
export async function listRuleSets(db: Kysely<Tables>, limit: number): Promise<StoredRuleSet[]> {
  const { rows } = await sql<StoredRuleSet>`
    select id::text as id, rules, since, requested_by as "requestedBy", approved_by as "approvedBy", decision_id as decision
    from rule_set order by id desc limit ${sql.lit(limit)}`.execute(db)
  return rows
}

type RuleSetPeople = { by: string; approvedBy: string | null; decision: bigint | null }

/** All groups are to be decided anew by these rules. */
export async function saveActiveRules(
  db: Kysely<Tables>,
  { rules, digest }: { rules: string; digest: string },
  people: RuleSetPeople | null = null,
): Promise<void> {
  await sql`
    with added as (
      ${people === null ? sql`insert into rule_set (rules) values (${rules})` : decidedRules(rules, people)}
    )
    insert into stream (name, cursor) values (${rulesStream}, ${JSON.stringify({ digest, isApplied: false })}::jsonb)
    on conflict (name) do update set cursor = excluded.cursor`.execute(db)
}

function decidedRules(rules: string, { by, approvedBy, decision }: RuleSetPeople) {
  return sql`
      insert into rule_set (rules, requested_by, approved_by, decision_id)
      values (${rules}, ${by}, ${approvedBy}, ${decision})`
}

/** The rules of the settings wait for approval, or no longer: null. */
export async function noteWaitingRules(db: Kysely<Tables>, waiting: string | null): Promise<void> {
  const none: ActiveRules = { digest: null, isApplied: true }
  const note = JSON.stringify(waiting === null ? {} : { waiting })
  await sql`
    insert into stream (name, cursor) values (${rulesStream}, ${JSON.stringify(none)}::jsonb || ${note}::jsonb)
    on conflict (name) do update set cursor = (stream.cursor - 'waiting') || ${note}::jsonb`.execute(db)
}

/** The digest of the rules that wait for approval; null if none do. Takes no lock. */
export async function waitingRules(db: Kysely<Tables>): Promise<string | null> {
  const { rows } = await sql<{ waiting: string | null }>`
    select cursor ->> 'waiting' as waiting from stream where name = ${rulesStream}`.execute(db)
  return rows[0]?.waiting ?? null
}

/** True once there is a decision about a person. */
export async function hasPeople(db: Kysely<Tables>): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`select has_people() as has`.execute(db)
  return rows[0]?.has ?? false
}

/** Waits for transactions that decide, and lets no other decide until this one ends. */
export async function holdDecisions(tx: Transaction<Tables>): Promise<void> {
  await sql`select from stream where name = ${rulesStream} for update`.execute(tx)
}

/**
 * Everything is to be decided again: by the caller, or by the next start of the daemon.
 * @returns the digest of the active rules; null if none were ever activated
 */
export async function markUnapplied(tx: Transaction<Tables>): Promise<string | null> {
  const { rows } = await sql<{ digest: string }>`
    update stream set cursor = jsonb_set(cursor, '{isApplied}', 'false')
    where name = ${rulesStream} and cursor is not null
    returning cursor ->> 'digest' as digest`.execute(tx)
  return rows[0]?.digest ?? null
}

/** @returns false if other rules were activated in the meantime; another process applies those */
export async function keepApplied(db: Kysely<Tables>, digest: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update stream set cursor = cursor || '{"isApplied": true}'
    where name = ${rulesStream} and cursor ->> 'digest' = ${digest}`.execute(db)
  return numAffectedRows === 1n
}

/** Services that were ever polled, and `asked` if it has a deposit, a mismatch or a quarantined webhook. */
export async function servicesKnown(db: Kysely<Tables>, asked: string | null): Promise<string[]> {
  const { rows } = await sql<{ service: string }>`
    select case name when 'poll' then 'default' else substr(name, length('poll/') + 1) end as service
    from stream where name = 'poll' or name like 'poll/%'
    union select ${asked} where exists (select from deposit where service = ${asked} and merged_into is null)
      or exists (select from mismatch where service = ${asked})
      or exists (select from quarantine where service = ${asked})`.execute(db)
  return rows.map(({ service }) => service)
}

/** When each stream last succeeded, like `poll`, `poll/acme` and `scan/base`. */
export async function streamTimes(db: Kysely<Tables>): Promise<ReadonlyMap<string, Date>> {
  const { rows } = await sql<{ name: string; at: Date }>`
    select name, succeeded_at as at from stream where succeeded_at is not null`.execute(db)
  return new Map(rows.map(({ name, at }) => [name, at]))
}

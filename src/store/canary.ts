import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { ownerText } from '../core/address-book.ts'
import type { AssetKey, NetworkName } from '../core/asset.ts'
import type { CanaryDepositOutcome, CanaryPlace } from '../core/canary.ts'
import { defaultService } from '../core/deposit-service.ts'
import type { Owner } from '../core/evidence.ts'
import { inTransaction } from './database.ts'
import type { Tables } from './tables.ts'

/**
 * Takes the right to run a canary now, once in every span over all processes.
 * @returns false where it is not due
 */
export async function claimCanary(
  db: Kysely<Tables>,
  { name, everyMs }: { name: string; everyMs: number },
): Promise<boolean> {
  const { rows } = await sql`
    insert into canary (name, started_at) values (${name}, now())
    on conflict (name) do update set started_at = now()
      where canary.started_at is null or canary.started_at <= now() - ${everyMs} * interval '1 millisecond'
    returning name`.execute(db)
  return rows.length > 0
}

/** An owner of our own, and the canary that pays it. */
type CanaryOwner = { name: string; owner: Owner }

/**
 * Puts these canaries on, and all others off: one that was off, or paid another owner, is waited for from now on, and not
 * from before.
 */
export async function switchCanaries(
  db: Kysely<Tables>,
  canaries: readonly { name: string; owner: Owner | null }[],
): Promise<void> {
  const names = canaries.map(({ name }) => name)
  const owners = canaries.map(({ owner }) => owner && ownerText(owner))
  await sql`
    with off as (update canary set is_on = false where is_on and name <> all(${names}::text[]))
    insert into canary (name, owner) select * from unnest(${names}::text[], ${owners}::text[])
    on conflict (name) do update set is_on = true, owner = excluded.owner, since = now()
      where not canary.is_on or canary.owner is distinct from excluded.owner`.execute(db)
}

/** Times of blocks are not quite ours. */
const clockSlack = '1 minute'

/** Deposits of an owner from before its canary was put on, or from before now where it is off: they are somebody else's. */
function depositsBefore({ name, owner }: CanaryOwner) {
  const since = sql`
    select since from canary where name = ${name} and is_on and owner = ${ownerText(owner)}`
  return sql`select from deposit d
    where d.owner_kind = ${owner.kind} and d.owner_id = ${owner.id} and d.service = ${defaultService} and d.merged_into is null
      and least(d.created_at, d.deposited_at) < coalesce((${since}), now()) - ${sql.lit(clockSlack)}::interval`
}

/** Whether the owner is no canary yet and has deposits of others. */
export async function isCustomer(db: Kysely<Tables>, canary: CanaryOwner): Promise<boolean> {
  const { kind, id } = canary.owner
  const { rows } = await sql<{ yes: boolean }>`
    select exists (${depositsBefore(canary)})
      and not exists (select from canary_owner where kind = ${kind} and id = ${id} and service = ${defaultService}) as yes`.execute(
    db,
  )
  return rows[0]?.yes === true
}

/**
 * Keeps an owner as one whose deposits are canaries, from now on and for ever: once the address book knows it, so that no
 * misspelt one is kept, and only where it has no deposits of others.
 */
export async function keepCanaryOwner(db: Kysely<Tables>, canary: CanaryOwner): Promise<void> {
  const { kind, id } = canary.owner
  await sql`
    insert into canary_owner (kind, id, service)
    select o.kind, o.id, o.service from owner o
    where o.kind = ${kind} and o.id = ${id} and o.service = ${defaultService} and exists (select from canary where name = ${canary.name})
      and not exists (select from canary_owner k where k.kind = o.kind and k.id = o.id and k.service = o.service)
      and not exists (${depositsBefore(canary)})
    on conflict (kind, id, service) do nothing`.execute(db)
}

/** For how long a webhook of ours is known: one that comes later is taken for anybody's. */
const webhooksKept = '1 day'

/** Notes a webhook that is about to be sent, and forgets old ones. */
export async function startWebhook(db: Kysely<Tables>, token: string): Promise<void> {
  await sql`
    with forgotten as (delete from canary_webhook where sent_at < now() - ${sql.lit(webhooksKept)}::interval)
    insert into canary_webhook (token_sha256) values (${hashOf(token)})`.execute(db)
}

/** Notes that a webhook came in. @returns false where the token is not one that was given out */
export async function receiveWebhook(db: Kysely<Tables>, token: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update canary_webhook set received_at = coalesce(received_at, now())
    where token_sha256 = ${hashOf(token)}`.execute(db)
  return numAffectedRows === 1n
}

/** Notes that the canary succeeded, where its webhook came in. @returns whether it did */
export async function endWebhook(
  db: Kysely<Tables>,
  { name, token }: { name: string; token: string },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update canary set succeeded_at = greatest(canary.succeeded_at, w.received_at)
    from canary_webhook w
    where canary.name = ${name} and w.token_sha256 = ${hashOf(token)} and w.received_at is not null`.execute(
    db,
  )
  return numAffectedRows === 1n
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}

type CanaryPayment = Omit<CanaryPlace, 'owner'> & { address: string }

/** Notes a payment that is about to be made. @returns its number */
export async function startPayment(
  db: Kysely<Tables>,
  { network, asset, amount, address }: CanaryPayment,
): Promise<bigint> {
  const { rows } = await sql<{ id: bigint }>`
    insert into canary_deposit (network, asset, amount, address)
    values (${network}, ${asset}, ${amount}, ${address}) returning id`.execute(db)
  return rows[0]?.id ?? 0n
}

/**
 * Keeps the transaction of a payment, before it is sent. Where sending the last one failed, this one may be the very same
 * to the byte: then it is this payment's, and the last was none.
 */
export async function namePayment(
  db: Kysely<Tables>,
  { id, network, tx }: { id: bigint; network: NetworkName; tx: string },
): Promise<void> {
  await inTransaction(db, async (inside) => {
    await sql`
      update canary_deposit set tx = null
      where network = ${network} and tx = ${tx} and id <> ${id} and reconciled_at is null`.execute(inside)
    await sql`update canary_deposit set tx = ${tx} where id = ${id}`.execute(inside)
  })
}

/** Notes that a payment could not be made. @returns false where that is known already */
export async function giveUpPayment(db: Kysely<Tables>, id: bigint): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update canary_deposit set outcome = 'unpaid' where id = ${id} and outcome is null`.execute(db)
  return numAffectedRows === 1n
}

type CanaryPaymentFilter = { name: string; owner: Owner; network: NetworkName; asset: AssetKey }

/** Takes up payments to the owner that somebody else made, from when on they are waited for. */
export async function findPayments(
  db: Kysely<Tables>,
  { name, owner, network, asset }: CanaryPaymentFilter,
): Promise<void> {
  await sql`
    insert into canary_deposit (network, asset, amount, address, started_at, tx)
    select d.network, d.asset, d.amount, d.address, d.deposited_at, d.tx
    from deposit d join canary on canary.name = ${name}
    where d.owner_kind = ${owner.kind} and d.owner_id = ${owner.id} and d.service = ${defaultService} and d.merged_into is null
      and d.network = ${network} and d.asset = ${asset}
      and d.deposited_at >= canary.since - ${sql.lit(clockSlack)}::interval
      and d.state <> 'ignored' and d.tx is not null and d.address is not null and d.amount > 0
      and not exists (select from canary_deposit c where c.network = d.network and c.tx = d.tx)
    order by d.id
    on conflict (network, tx) do nothing`.execute(db)
}

/**
 * How a payment ended; `seconds` from the payment to the last word of all sources, null where it is not said. The outcome
 * is told once: it is null where one that was told late is reconciled after all.
 */
export type EndedPayment = { outcome: CanaryDepositOutcome | null; seconds: number | null }

/** Later than this nobody looks whether a payment that was late was reconciled after all. */
const paymentsWatched = '30 days'

type CanaryDeadline = { name: string; network: NetworkName; withinMs: number }

/**
 * Ends payments whose deposits are reconciled, and those whose time is over. One that is reconciled later than that
 * shows that the way is open again, and how long that took.
 */
export async function endPayments(
  db: Kysely<Tables>,
  { name, network, withinMs }: CanaryDeadline,
): Promise<EndedPayment[]> {
  const within = sql`${withinMs} * interval '1 millisecond'`
  const { rows } = await sql<EndedPayment>`
    with reconciled as (
      update canary_deposit c set reconciled_at = d.reconciled_at, outcome = coalesce(c.outcome,
        case when d.reconciled_at <= c.started_at + ${within} then 'reconciled' else 'late' end)
      from deposit d
      where c.network = ${network} and c.reconciled_at is null
        and (c.outcome is null or c.started_at > now() - ${sql.lit(paymentsWatched)}::interval)
        and d.tx = c.tx and d.network = c.network and d.asset = c.asset and d.address = c.address
        and d.merged_into is null and d.reconciled_at is not null
      returning old.outcome as told, new.outcome, new.reconciled_at,
        greatest(extract(epoch from new.reconciled_at - new.started_at), 0)::float8 as seconds
    ), overdue as (
      update canary_deposit c set outcome = case when c.tx is null then 'unpaid' else 'late' end
      where c.network = ${network} and c.outcome is null and c.started_at < now() - ${within}
        and not exists (
          select from deposit d where d.tx = c.tx and d.network = c.network and d.asset = c.asset
            and d.address = c.address and d.merged_into is null and d.reconciled_at is not null
        )
      returning c.outcome
    ), succeeded as (
      update canary set succeeded_at = greatest(succeeded_at, (select max(reconciled_at) from reconciled))
      where name = ${name} and exists (select from reconciled)
    )
    select case when told is null then outcome end as outcome, seconds from reconciled
    union all select outcome, null from overdue`.execute(db)
  return rows
}

/** Seconds since a canary last succeeded, or since it was put on where it has not since then. */
export type CanaryAge = { name: string; age: number }

export async function canaryAges(db: Kysely<Tables>): Promise<CanaryAge[]> {
  const { rows } = await sql<CanaryAge>`
    select name, greatest(extract(epoch from now() - greatest(succeeded_at, since)), 0)::float8 as age
    from canary order by name`.execute(db)
  return rows
}

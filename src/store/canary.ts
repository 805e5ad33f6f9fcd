import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { ownerKey } from '../core/address-book.ts'
import type { AssetKey, NetworkName } from '../core/asset.ts'
import type { CanaryDepositOutcome, CanaryPlace } from '../core/canary.ts'
import { defaultService, type Owner } from '../core/evidence.ts'
import { inTransaction } from './database.ts'
import type { Tables } from './tables.ts'

/**
 * Claims the next run of a canary, once per interval across all processes.
 * @returns false if it is not due
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

/** One of our own owners, and the name of the canary that pays it. */
type CanaryOwner = { name: string; owner: Owner }

/**
 * Enables these canaries and disables all others. A canary that was disabled, or paid another owner, is measured from
 * now on.
 */
export async function switchCanaries(
  db: Kysely<Tables>,
  canaries: readonly { name: string; owner: Owner | null }[],
): Promise<void> {
  const names = canaries.map(({ name }) => name)
  const owners = canaries.map(({ owner }) => owner && ownerKey(owner))
  await sql`
    with off as (update canary set is_on = false where is_on and name <> all(${names}::text[]))
    insert into canary (name, owner) select * from unnest(${names}::text[], ${owners}::text[])
    on conflict (name) do update set is_on = true, owner = excluded.owner, since = now()
      where not canary.is_on or canary.owner is distinct from excluded.owner`.execute(db)
}

/** Block times can differ from the database's clock. */
const clockSlack = '1 minute'

/**
 * Deposits of an owner from before its canary was enabled, or from before now if it is disabled: they are customers'
 * deposits.
 */
function depositsBefore({ name, owner }: CanaryOwner) {
  const since = sql`
    select since from canary where name = ${name} and is_on and owner = ${ownerKey(owner)}`
  return sql`select from deposit d
    where d.owner_kind = ${owner.kind} and d.owner_id = ${owner.id} and d.service = ${defaultService} and d.merged_into is null
      and least(d.created_at, d.deposited_at) < coalesce((${since}), now()) - ${sql.lit(clockSlack)}::interval`
}

/** Whether the owner is not yet a canary owner and has customers' deposits. */
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
 * Records an owner as a canary owner, permanently. The address book must contain it, so that no typo is recorded, and
 * it must have no customers' deposits.
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

/** How long our own webhooks are recognised. A later arrival counts as an ordinary webhook. */
const webhooksKept = '1 day'

/** Records a webhook that is about to be sent, and deletes old ones. */
export async function startWebhook(db: Kysely<Tables>, token: string): Promise<void> {
  await sql`
    with forgotten as (delete from canary_webhook where sent_at < now() - ${sql.lit(webhooksKept)}::interval)
    insert into canary_webhook (token_sha256) values (${hashOf(token)})`.execute(db)
}

/**
 * Records the arrival of a webhook.
 * @returns false if the token is unknown
 */
export async function receiveWebhook(db: Kysely<Tables>, token: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update canary_webhook set received_at = coalesce(received_at, now())
    where token_sha256 = ${hashOf(token)}`.execute(db)
  return numAffectedRows === 1n
}

/**
 * Records a success of the canary if its webhook arrived.
 * @returns whether it did
 */
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

/**
 * Records a payment that is about to be made.
 * @returns its id
 */
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
 * Records the transaction of a payment before it is sent. If sending the previous payment failed, this transaction can
 * be identical to it, byte for byte. It then belongs to this payment only.
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

/**
 * Records that a payment could not be made.
 * @returns false if the payment already has an outcome
 */
export async function giveUpPayment(db: Kysely<Tables>, id: bigint): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update canary_deposit set outcome = 'unpaid' where id = ${id} and outcome is null`.execute(db)
  return numAffectedRows === 1n
}

type CanaryPaymentFilter = { name: string; owner: Owner; network: NetworkName; asset: AssetKey }

/** Adopts payments that others made to the owner since the canary was enabled. */
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
 * How a payment ended. `seconds` is the time from the payment to its reconciliation, null if it is not reconciled. An
 * outcome is reported once: `outcome` is null if a payment already reported as late is reconciled.
 */
export type EndedPayment = { outcome: CanaryDepositOutcome | null; seconds: number | null }

/** How long a late payment is watched for its reconciliation. */
const paymentsWatched = '30 days'

type CanaryDeadline = { name: string; network: NetworkName; withinMs: number }

/**
 * Ends payments whose deposits are reconciled, and payments past the deadline. A payment that is reconciled after the
 * deadline shows that deposits arrive again, and how long that took.
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
      returning old.outcome as reported, new.outcome, new.reconciled_at,
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
    select case when reported is null then outcome end as outcome, seconds from reconciled
    union all select outcome, null from overdue`.execute(db)
  return rows
}

/** Seconds since a canary last succeeded, or since it was enabled if it has not succeeded since then. */
export type CanaryAge = { name: string; age: number }

export async function canaryAges(db: Kysely<Tables>): Promise<CanaryAge[]> {
  const { rows } = await sql<CanaryAge>`
    select name, greatest(extract(epoch from now() - greatest(succeeded_at, since)), 0)::float8 as age
    from canary order by name`.execute(db)
  return rows
}

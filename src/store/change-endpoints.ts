import { sql, type Transaction } from 'kysely'
import type { SecretVault } from '../outbox/secret-vault.ts'
import {
  addEndpointSecret,
  describeContent,
  type EndpointContent,
  type EventEndpoint,
  isWanted,
  namedEndpoint,
  type PauseReason,
  type WrittenContent,
} from './event-endpoints.ts'
import { recordAccess } from './sessions.ts'
import type { Tables } from './tables.ts'

export type EndpointAct = { name: string; by: string }

/** A turn of a sender that is under way ends before, and the next one leaves what was taken before the change. */
async function lockNamed(tx: Transaction<Tables>, name: string): Promise<EventEndpoint> {
  await sql`
    update event_endpoint set revision = revision + 1 where removed_at is null and lower(name) = lower(${name})`.execute(
    tx,
  )
  return namedEndpoint(tx, name)
}

/** Without a field, it stays as it is. */
type EndpointEdit = EndpointAct & {
  [Field in keyof EndpointContent]?: EndpointContent[Field] | undefined
}

/** Holds for all that is not delivered yet. What was passed over before is not sent later. */
export async function editEndpoint(
  tx: Transaction<Tables>,
  { name, by, ...changes }: EndpointEdit,
): Promise<void> {
  const { id, ...before } = await lockNamed(tx, name)
  const {
    url = before.url,
    payload = before.payload,
    types = before.types,
    services = before.services,
    owners = before.owners,
  } = changes
  await sql`
    update event_endpoint set url = ${url}, payload = ${payload}, types = ${types && [...types]}::text[],
      services = ${services && [...services]}::text[], owners = ${owners && [...owners]}::text[]
    where id = ${id}`.execute(tx)
  await sql`
    delete from event_delivery d using event, event_endpoint e
    where d.endpoint_id = ${id} and e.id = ${id} and event.sequence = d.sequence and (${isWanted}) is not true`.execute(
    tx,
  )
  const content = { url, payload, types, services, owners }
  await recordAccess(tx, {
    person: by,
    action: 'endpoint_changed',
    detail: `${name}: ${describeContent(content)}`,
  })
}

export async function pauseEndpoint(tx: Transaction<Tables>, { name, by }: EndpointAct): Promise<void> {
  const { id } = await lockNamed(tx, name)
  await pause(tx, id, 'requested')
  await recordAccess(tx, { person: by, action: 'endpoint_changed', detail: `${name}: paused` })
}

/** Paused since the first reason. */
export async function pause(tx: Transaction<Tables>, id: bigint, reason: PauseReason): Promise<void> {
  await sql`
    update event_endpoint
    set state = 'paused', reason = ${reason}, paused_at = coalesce(paused_at, clock_timestamp())
    where id = ${id}`.execute(tx)
}

/** What waits is due now, and has three days again. */
export async function resumeEndpoint(tx: Transaction<Tables>, { name, by }: EndpointAct): Promise<void> {
  const { id } = await lockNamed(tx, name)
  await resume(tx, id)
  await recordAccess(tx, { person: by, action: 'endpoint_changed', detail: `${name}: resumed` })
}

async function resume(tx: Transaction<Tables>, id: bigint): Promise<void> {
  await sql`
    update event_endpoint set state = 'active', reason = null, paused_at = null, failures = 0, failing_since = null, rest_until = null
    where id = ${id}`.execute(tx)
  await sql`
    update event_delivery set tries = 0, failing_since = null, next_at = null where endpoint_id = ${id}`.execute(
    tx,
  )
}

export type EndpointChange =
  | { action: 'pause' | 'resume' | 'remove' }
  | ({ action: 'edit' } & Partial<WrittenContent>)
  | { action: 'replay'; from: ReplayStart }

export type ReplayStart = { sequence: bigint } | { since: Date }

/**
 * Sends every event from there on again, in order. Earlier ones that are not delivered yet still come first.
 * @returns the number that is sent next
 */
export async function replayEndpoint(
  tx: Transaction<Tables>,
  { name, by, from }: EndpointAct & { from: ReplayStart },
): Promise<bigint> {
  const { id } = await lockNamed(tx, name)
  const first = 'sequence' in from ? from.sequence : await firstSince(tx, from.since)
  // Later events become deliveries again, with another id: what a sender has under way does not end those.
  await sql`delete from event_delivery where endpoint_id = ${id} and sequence >= ${first}`.execute(tx)
  await sql`
    update event_endpoint set position = least(position, ${first - 1n}) where id = ${id}`.execute(tx)
  await recordAccess(tx, {
    person: by,
    action: 'endpoint_changed',
    detail: `${name}: replayed from ${first}`,
  })
  return first
}

/** The first event that became true then or later; the next one to come if there is none. */
async function firstSince(tx: Transaction<Tables>, since: Date): Promise<bigint> {
  const { rows } = await sql<{ first: bigint }>`
    select coalesce(min(sequence) filter (where at >= ${since}), coalesce(max(sequence), 0) + 1) as first from event`.execute(
    tx,
  )
  return rows[0]?.first ?? 1n
}

type EndpointRotation = EndpointAct & { secret: string; endsAt: Date }

/** Until then, the secret before signs too. One before that ends now. */
export async function rotateEndpoint(
  tx: Transaction<Tables>,
  vault: SecretVault,
  { name, by, secret, endsAt }: EndpointRotation,
): Promise<void> {
  const { id, secrets } = await lockNamed(tx, name)
  const newest = secrets[0]?.version ?? 0
  await sql`delete from event_endpoint_secret where endpoint_id = ${id} and version < ${newest}`.execute(tx)
  await sql`update event_endpoint_secret set expires_at = ${endsAt} where endpoint_id = ${id}`.execute(tx)
  await addEndpointSecret(tx, vault, { endpointId: id, version: newest + 1, secret })
  await recordAccess(tx, { person: by, action: 'endpoint_changed', detail: `${name}: secret rotated` })
}

/** Nothing more is sent. Its secrets are deleted. */
export async function removeEndpoint(tx: Transaction<Tables>, { name, by }: EndpointAct): Promise<void> {
  const { id } = await lockNamed(tx, name)
  await sql`update event_endpoint set removed_at = clock_timestamp() where id = ${id}`.execute(tx)
  await sql`delete from event_endpoint_secret where endpoint_id = ${id}`.execute(tx)
  await sql`delete from event_delivery where endpoint_id = ${id}`.execute(tx)
  await recordAccess(tx, { person: by, action: 'endpoint_removed', detail: name })
}

import { type Kysely, sql, type Transaction } from 'kysely'
import { Fault } from '../core/errors.ts'
import type { EventPayload } from '../core/event-payload.ts'
import type { SecretVault } from '../outbox/secret-vault.ts'
import { readSecret, type SigningKeyScheme } from '../outbox/signing-key.ts'
import type { EventType } from './events.ts'
import { recordAccess } from './sessions.ts'
import type { Tables } from './tables.ts'

/** `thin`: without what happened, which the receiver reads from the API. */

/** `undelivered`: an event failed for three days. `gone`: the endpoint answered 410. */
export type PauseReason = 'requested' | 'undelivered' | 'gone'

/** An active endpoint has no reason. */
export type EventEndpoint = {
  id: bigint
  name: string
  url: string
  payload: EventPayload
  /** Null for all. */
  types: readonly EventType[] | null
  services: readonly string[] | null
  owners: readonly string[] | null
  state: 'active' | 'paused'
  reason: PauseReason | null
  /** Up to this number, each event for it is delivered. */
  delivered: bigint
  /** Events that it failed to take so far, or that wait for those. */
  waiting: number
  failing_since: Date | null
  secrets: readonly EndpointSecret[]
  created_by: string
  created_at: Date
}

/** The public key is null for `v1`. */
export type EndpointSecret = {
  version: number
  scheme: SigningKeyScheme
  public_key: string | null
  expires_at: Date | null
}

export type NewEventEndpoint = Pick<
  EventEndpoint,
  'name' | 'url' | 'payload' | 'types' | 'services' | 'owners'
> & { secret: string; by: string }

/** Lower case, so that a log and a shell need no quotes. */
export const endpointNameForm = /^[a-z0-9][a-z0-9._-]{0,62}$/

/** Bounds the cost of one event. */
const endpointsMax = 50

/** Encrypts under a key of its own, so that no other secret of that key is at risk. */
export const endpointVaultPurpose = 'depositd event endpoint secrets'

const fields = sql`e.id, e.name, e.url, e.payload, e.types, e.services, e.owners, e.state, e.reason, e.failing_since,
  coalesce(open.first - 1, e.position) as delivered, open.waiting,
  (select jsonb_agg(jsonb_build_object('version', s.version, 'scheme', s.scheme, 'public_key', s.public_key,
      'expires_at', s.expires_at) order by s.version desc)
    from event_endpoint_secret s where s.endpoint_id = e.id) as secrets,
  e.created_by, e.created_at`

const source = sql`event_endpoint e, lateral (
  select min(sequence) as first, count(*)::int as waiting from event_delivery where endpoint_id = e.id
) as open`

type StoredSecret = Omit<EndpointSecret, 'expires_at'> & { expires_at: string | null }

type StoredEndpoint = Omit<EventEndpoint, 'secrets'> & { secrets: StoredSecret[] }

function endpointOf({ secrets, ...row }: StoredEndpoint): EventEndpoint {
  const dated = secrets.map(({ expires_at: at, ...rest }) => ({
    ...rest,
    expires_at: at === null ? null : new Date(at),
  }))
  return { ...row, secrets: dated }
}

/**
 * Receives what is numbered from now on.
 * @throws Fault `usage_bad` if the name is used, or there are too many
 */
export async function createEventEndpoint(
  tx: Transaction<Tables>,
  vault: SecretVault,
  { name, url, payload, types, services, owners, secret, by }: NewEventEndpoint,
): Promise<EventEndpoint> {
  await sql`lock table event_endpoint in share row exclusive mode`.execute(tx)
  const { rows: live } = await sql<{ name: string }>`
    select name from event_endpoint where removed_at is null`.execute(tx)
  if (live.some((one) => one.name === name))
    throw new Fault('usage_bad', {
      problem: `an endpoint with the name ${name} exists`,
      fix: 'choose another name, or remove that endpoint first',
    })
  if (live.length >= endpointsMax)
    throw new Fault('usage_bad', {
      problem: `there are ${endpointsMax} endpoints already`,
      fix: 'remove one first',
    })
  const { rows } = await sql<{ id: bigint }>`
    insert into event_endpoint (name, url, payload, types, services, owners, position, created_by)
    select ${name}, ${url}, ${payload}, ${types && [...types]}::text[], ${services && [...services]}::text[],
      ${owners && [...owners]}::text[], coalesce((select max(sequence) from event), 0), ${by}
    returning id`.execute(tx)
  const [added] = rows
  if (added === undefined) throw new Error('an inserted endpoint is returned')
  await addEndpointSecret(tx, vault, { endpointId: added.id, version: 1, secret })
  await recordAccess(tx, { person: by, action: 'endpoint_created', detail: `${name}: ${url}` })
  return namedEndpoint(tx, name)
}

type NewEndpointSecret = { endpointId: bigint; version: number; secret: string }

async function addEndpointSecret(
  tx: Transaction<Tables>,
  vault: SecretVault,
  { endpointId, version, secret }: NewEndpointSecret,
): Promise<void> {
  const key = readSecret(secret)
  if (key === null) throw new Error('a secret was checked where it came from')
  const sealed = vault.seal(secret, { endpointId: `${endpointId}`, version })
  await sql`
    insert into event_endpoint_secret (endpoint_id, version, scheme, sealed, public_key)
    values (${endpointId}, ${version}, ${key.scheme}, ${sealed}, ${key.publicKey})`.execute(tx)
}

/** By name. */
export async function listEventEndpoints(
  db: Kysely<Tables>,
  { after, limit }: { after?: string | undefined; limit: number },
): Promise<EventEndpoint[]> {
  const { rows } = await sql<StoredEndpoint>`
    select ${fields} from ${source} where e.removed_at is null and e.name > ${after ?? ''}
    order by e.name collate "C" limit ${limit}`.execute(db)
  return rows.map(endpointOf)
}

/** @throws Fault `not_found` */
export async function namedEndpoint(db: Kysely<Tables>, name: string): Promise<EventEndpoint> {
  const { rows } = await sql<StoredEndpoint>`
    select ${fields} from ${source} where e.removed_at is null and lower(e.name) = lower(${name})`.execute(db)
  const [row] = rows
  if (row === undefined)
    throw new Fault('not_found', {
      problem: `an endpoint ${JSON.stringify(name)} not found`,
      fix: 'use a name from "bin/depositd events endpoint list"',
    })
  return endpointOf(row)
}

/** A turn of a sender that is under way ends before, and the next one sees the change. */
async function lockNamed(tx: Transaction<Tables>, name: string): Promise<EventEndpoint> {
  const found = await namedEndpoint(tx, name)
  await sql`select from event_endpoint where id = ${found.id} for no key update`.execute(tx)
  return found
}

type EndpointAct = { name: string; by: string }

export async function pauseEndpoint(tx: Transaction<Tables>, { name, by }: EndpointAct): Promise<void> {
  const { id } = await lockNamed(tx, name)
  await sql`update event_endpoint set state = 'paused', reason = 'requested' where id = ${id}`.execute(tx)
  await recordAccess(tx, { person: by, action: 'endpoint_changed', detail: `${name}: paused` })
}

/** What waits is due now, and has three days again. */
export async function resumeEndpoint(tx: Transaction<Tables>, { name, by }: EndpointAct): Promise<void> {
  const { id } = await lockNamed(tx, name)
  await resume(tx, id)
  await recordAccess(tx, { person: by, action: 'endpoint_changed', detail: `${name}: resumed` })
}

async function resume(tx: Transaction<Tables>, id: bigint): Promise<void> {
  await sql`
    update event_endpoint set state = 'active', reason = null, failures = 0, failing_since = null, rest_until = null
    where id = ${id}`.execute(tx)
  await sql`
    update event_delivery set tries = 0, failing_since = null, next_at = null where endpoint_id = ${id}`.execute(
    tx,
  )
}

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
    update event_endpoint set position = least(${first - 1n}, (select coalesce(max(sequence), 0) from event))
    where id = ${id}`.execute(tx)
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

export type EndpointRotation = EndpointAct & { secret: string; endsAt: Date }

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

export type SealedSecret = { version: number; sealed: Buffer }

/** Those that sign at this time, the newest first. */
export async function sealedSecrets(db: Kysely<Tables>, id: bigint, at: Date): Promise<SealedSecret[]> {
  const { rows } = await sql<SealedSecret>`
    select version, sealed from event_endpoint_secret
    where endpoint_id = ${id} and (expires_at is null or expires_at > ${at}) order by version desc`.execute(
    db,
  )
  return rows
}

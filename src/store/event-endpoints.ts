import { type Kysely, sql, type Transaction } from 'kysely'
import { Fault } from '../core/errors.ts'
import type { EventPayload, EventType } from '../core/event.ts'
import type { SecretVault } from '../outbox/secret-vault.ts'
import { readSecret, type SigningKeyScheme } from '../outbox/signing-key.ts'
import { recordAccess } from './sessions.ts'
import type { Tables } from './tables.ts'

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
  paused_at: Date | null
  /** Up to this number, each event for it is delivered. */
  delivered: bigint
  /** Events with a later number, also those that it does not receive, and when the first of them became true. */
  behind: bigint
  behind_since: Date | null
  /** Events that it failed to take so far, or that wait for those. */
  waiting: number
  /** Attempts that failed since the last success. */
  failures: number
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

/** What is sent, and where to. */
export type EndpointContent = Pick<EventEndpoint, 'url' | 'payload' | 'types' | 'services' | 'owners'>

/** As a person wrote it, not checked yet. */
export type WrittenContent = Omit<EndpointContent, 'types'> & { types: readonly string[] | null }

export type NewEventEndpoint = EndpointContent & { name: string; secret: string; by: string }

/** Lower case, so that a log and a shell need no quotes. */
export const endpointNameForm = /^[a-z0-9][a-z0-9._-]{0,62}$/

/** Bounds the cost of one event. */
const endpointsMax = 50

/** Encrypts under a key of its own, so that no other secret of that key is at risk. */
export const endpointVaultPurpose = 'depositd event endpoint secrets'

const fields = sql`e.id, e.name, e.url, e.payload, e.types, e.services, e.owners, e.state, e.reason, e.paused_at,
  e.failures, e.failing_since, done.upto as delivered, open.waiting,
  coalesce((select max(sequence) from event), 0) - done.upto as behind,
  (select at from event where sequence = done.upto + 1) as behind_since,
  (select jsonb_agg(jsonb_build_object('version', s.version, 'scheme', s.scheme, 'public_key', s.public_key,
      'expires_at', s.expires_at) order by s.version desc)
    from event_endpoint_secret s where s.endpoint_id = e.id) as secrets,
  e.created_by, e.created_at`

const source = sql`event_endpoint e, lateral (
  select min(sequence) as first, count(*)::int as waiting from event_delivery where endpoint_id = e.id
) as open, lateral (select coalesce(open.first - 1, e.position) as upto) as done`

/** Of an event, by an endpoint `e`. */
export const isWanted = sql`(e.types is null or event.type = any(e.types))
  and (e.services is null or event.service = any(e.services)) and (e.owners is null or event.owner_id = any(e.owners))`

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
  { name, secret, by, ...content }: NewEventEndpoint,
): Promise<EventEndpoint> {
  const { url, payload, types, services, owners } = content
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
  await recordAccess(tx, {
    person: by,
    action: 'endpoint_created',
    detail: `${name}: ${describeContent(content)}`,
  })
  return namedEndpoint(tx, name)
}

export function describeContent({ url, payload, types, services, owners }: EndpointContent): string {
  const filters = Object.entries({ types, services, owners }).flatMap(([filter, words]) =>
    words === null ? [] : [`${filter} ${words.join(', ')}`],
  )
  return [url, payload, ...filters].join('; ')
}

type NewEndpointSecret = { endpointId: bigint; version: number; secret: string }

export async function addEndpointSecret(
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

export async function findEndpoint(db: Kysely<Tables>, name: string): Promise<EventEndpoint | null> {
  const { rows } = await sql<StoredEndpoint>`
    select ${fields} from ${source} where e.removed_at is null and lower(e.name) = lower(${name})`.execute(db)
  return rows[0] === undefined ? null : endpointOf(rows[0])
}

/** @throws Fault `not_found` */
export async function namedEndpoint(db: Kysely<Tables>, name: string): Promise<EventEndpoint> {
  const found = await findEndpoint(db, name)
  if (found !== null) return found
  throw new Fault('not_found', {
    problem: `an endpoint ${JSON.stringify(name)} not found`,
    fix: 'use a name from "bin/depositd events endpoint list"',
  })
}

export type SealedSecret = { version: number; sealed: Buffer; expiresAt: Date | null }

/** Those that sign at this time, the newest first. */
export async function sealedSecrets(db: Kysely<Tables>, id: bigint, at: Date): Promise<SealedSecret[]> {
  const { rows } = await sql<SealedSecret>`
    select version, sealed, expires_at as "expiresAt" from event_endpoint_secret
    where endpoint_id = ${id} and (expires_at is null or expires_at > ${at}) order by version desc`.execute(
    db,
  )
  return rows
}

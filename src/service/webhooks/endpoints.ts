import { sql } from 'kysely'
import type { SecretVault } from '../../outbox/secret-vault.ts'
import { canonicalUrl } from '../../outbox/webhook-url.ts'
import { inTransaction } from '../../store/database.ts'
import { newId } from '../new-id.ts'
import type { EndpointRow, ServiceDatabase, ServiceTransaction } from '../tables.ts'
import { addSecret, openSecret, rotateSecret, signingSecrets } from './secrets.ts'

/** Standard Webhooks: base64 after `whsec_`, or after `whsk_` for ed25519. */
export type WebhookEndpoint = { url: string; secret: string }

export type NewEndpoint = {
  url: string
  types: readonly string[] | null
  secret: string
  configured: boolean
}

/** Bounds the cost of one event. */
export const endpointsMax = 50

export function registerEndpoint(
  parts: { db: ServiceDatabase; vault: SecretVault },
  wanted: NewEndpoint,
): Promise<EndpointRow | 'url_taken' | 'too_many'> {
  return inTransaction(parts.db, async (tx) => {
    await lockEndpoints(tx)
    const live = await tx
      .selectFrom('service.webhook_endpoint')
      .select('url')
      .where('status', '<>', 'deleted')
      .execute()
    if (live.some(({ url }) => url === wanted.url)) return 'url_taken'
    if (live.length >= endpointsMax) return 'too_many'
    return insertEndpoint(tx, parts.vault, wanted)
  })
}

/** Reads are not blocked. */
async function lockEndpoints(tx: ServiceTransaction): Promise<void> {
  await sql`lock table service.webhook_endpoint in share row exclusive mode`.execute(tx)
}

async function insertEndpoint(
  tx: ServiceTransaction,
  vault: SecretVault,
  { secret, types, ...endpoint }: NewEndpoint,
): Promise<EndpointRow> {
  const row = await tx
    .insertInto('service.webhook_endpoint')
    .values({ id: newId('wep'), types: types === null ? null : [...types], ...endpoint })
    .returningAll()
    .executeTakeFirstOrThrow()
  await addSecret(tx, vault, { endpointId: row.id, version: 1, secret })
  return row
}

/** Also deleted ones: their history is kept. */
export function findEndpoint(db: ServiceDatabase, id: string): Promise<EndpointRow | undefined> {
  return db.selectFrom('service.webhook_endpoint').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Newest first, below a sequence. */
export function listEndpoints(
  db: ServiceDatabase,
  { below, limit }: { below: bigint | null; limit: number },
): Promise<EndpointRow[]> {
  return db
    .selectFrom('service.webhook_endpoint')
    .selectAll()
    .where('status', '<>', 'deleted')
    .$if(below !== null, (query) => query.where('sequence', '<', below))
    .orderBy('sequence', 'desc')
    .limit(limit)
    .execute()
}

/** Blocks changes and new deliveries until the transaction ends. */
export function lockEndpoint(tx: ServiceTransaction, id: string): Promise<EndpointRow | undefined> {
  return tx
    .selectFrom('service.webhook_endpoint')
    .selectAll()
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst()
}

type EndpointEndStatus =
  | { status: 'disabled'; disabled_because: 'gone' | 'requested' }
  | { status: 'deleted' }

/** Cancels pending deliveries. Later events are not queued. Deletion also removes the secrets. */
export async function endEndpoint(
  tx: ServiceTransaction,
  id: string,
  ending: EndpointEndStatus,
): Promise<void> {
  await lockEndpoint(tx, id)
  await tx
    .updateTable('service.webhook_endpoint')
    .set({ disabled_because: null, ...ending })
    .where('id', '=', id)
    .where('status', '<>', 'deleted')
    .execute()
  await tx
    .updateTable('service.delivery')
    .set({ status: 'cancelled', next_at: null, ended_at: sql`clock_timestamp()` })
    .where('endpoint_id', '=', id)
    .where('status', '=', 'pending')
    .execute()
  if (ending.status === 'deleted') {
    await tx.deleteFrom('service.webhook_secret').where('endpoint_id', '=', id).execute()
  }
}

export async function enableEndpoint(db: ServiceDatabase, id: string): Promise<void> {
  await db
    .updateTable('service.webhook_endpoint')
    .set({ status: 'active', disabled_because: null, resume_at: null })
    .where('id', '=', id)
    .where('status', '=', 'disabled')
    .execute()
}

export const overlapDefaultSeconds = 86_400

type EndpointSyncDeps = { db: ServiceDatabase; vault: SecretVault; now: () => Date }

/**
 * The settings are authoritative: a removed endpoint is deleted, a changed secret is rotated, and a disabled endpoint
 * is enabled.
 */
export function applyEndpoints(keeping: EndpointSyncDeps, wanted: readonly WebhookEndpoint[]): Promise<void> {
  return inTransaction(keeping.db, async (tx) => {
    await lockEndpoints(tx)
    const live = await tx
      .selectFrom('service.webhook_endpoint')
      .selectAll()
      .where('status', '<>', 'deleted')
      .orderBy('id')
      .execute()
    const urls = new Set(wanted.map(({ url }) => canonicalUrl(url)))
    const dropped = live.filter(({ configured, url }) => configured && !urls.has(url))
    for (const { id } of dropped) await endEndpoint(tx, id, { status: 'deleted' })
    for (const { url, secret } of wanted) {
      const known = live.find((endpoint) => endpoint.url === canonicalUrl(url))
      if (known === undefined) {
        const endpoint = { url: canonicalUrl(url), types: null, secret, configured: true }
        await insertEndpoint(tx, keeping.vault, endpoint)
      } else await keepEndpoint(tx, keeping, { known, secret })
    }
  })
}

async function keepEndpoint(
  tx: ServiceTransaction,
  { vault, now }: EndpointSyncDeps,
  { known, secret }: { known: EndpointRow; secret: string },
): Promise<void> {
  const at = now()
  const endpointId = known.id
  await tx
    .updateTable('service.webhook_endpoint')
    .set({ configured: true, types: null, status: 'active', disabled_because: null })
    .where('id', '=', endpointId)
    .execute()
  const [newest] = await signingSecrets(tx, [endpointId], at)
  if (newest !== undefined && openSecret(vault, newest) === secret) return
  await rotateSecret(tx, vault, { endpointId, secret, at, overlapSeconds: overlapDefaultSeconds })
}

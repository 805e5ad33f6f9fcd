import { inTransaction } from '../../store/database.ts'
import type { ServiceDatabase, ServiceTransaction } from '../tables.ts'
import { endEndpoint, insertEndpoint, lockEndpoints } from './endpoints.ts'
import type { SecretVault } from './secret-vault.ts'
import { openSecret, rotateSecret, signingSecrets } from './secrets.ts'
import type { EndpointRow } from './tables.ts'
import type { WebhookEndpoint } from './webhook-settings.ts'
import { urlForm } from './webhook-url.ts'

export const overlapDefaultSeconds = 86_400

type EndpointSyncDeps = { db: ServiceDatabase; vault: SecretVault; now: () => Date }

/**
 * Applies the configured endpoints to the database. The settings are authoritative for them: a removed endpoint is
 * deleted, a changed secret is rotated, and a disabled endpoint is enabled at start.
 */
export function keepEndpoints(keeping: EndpointSyncDeps, wanted: readonly WebhookEndpoint[]): Promise<void> {
  return inTransaction(keeping.db, async (tx) => {
    await lockEndpoints(tx)
    const live = await tx
      .selectFrom('service.webhook_endpoint')
      .selectAll()
      .where('status', '<>', 'deleted')
      .orderBy('id')
      .execute()
    const urls = new Set(wanted.map(({ url }) => urlForm(url)))
    const dropped = live.filter(({ configured, url }) => configured && !urls.has(url))
    for (const { id } of dropped) await endEndpoint(tx, id, { status: 'deleted' })
    for (const { url, secret } of wanted) {
      const known = live.find((endpoint) => endpoint.url === urlForm(url))
      if (known === undefined) {
        const endpoint = { url: urlForm(url), types: null, secret, configured: true }
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

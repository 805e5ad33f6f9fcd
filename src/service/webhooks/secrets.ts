import { sql } from 'kysely'
import { assert } from '../../core/errors.ts'
import { openSecretVault, type SecretVault } from '../../outbox/secret-vault.ts'
import { readSecret, type SigningKey } from '../../outbox/signing-key.ts'
import { seedBytes } from '../keyring/keyring.ts'
import type { SecretRow, ServiceDatabase, ServiceTransaction } from '../tables.ts'

/** Bounds the signature header; more than any realistic rotation needs. */
const signingMax = 5

type NewSecret = { endpointId: string; version: number; secret: string }

export async function addSecret(
  tx: ServiceTransaction,
  vault: SecretVault,
  { endpointId, version, secret }: NewSecret,
): Promise<void> {
  const key = readSecret(secret)
  assert(key !== null, 'a secret was checked where it came from')
  await tx
    .insertInto('service.webhook_secret')
    .values({
      endpoint_id: endpointId,
      version,
      scheme: key.scheme,
      sealed: vault.seal(secret, { endpointId, version }),
      public_key: key.publicKey,
    })
    .execute()
}

export type Rotation = { endpointId: string; secret: string; at: Date; overlapSeconds: number }

/** The older secrets sign until the overlap ends. Requires the lock on the endpoint. */
export async function rotateSecret(
  tx: ServiceTransaction,
  vault: SecretVault,
  { endpointId, secret, at, overlapSeconds }: Rotation,
): Promise<void> {
  const { rows } = await sql<{ version: number }>`
    select max(version) as version from service.webhook_secret where endpoint_id = ${endpointId}`.execute(tx)
  const newest = rows[0]?.version ?? 0
  const expiresAt = new Date(at.getTime() + overlapSeconds * 1000)
  await sql`
    update service.webhook_secret set expires_at = least(
      expires_at, case when version > ${newest - signingMax + 1} then ${expiresAt}::timestamptz else ${at} end)
    where endpoint_id = ${endpointId}`.execute(tx)
  await addSecret(tx, vault, { endpointId, version: newest + 1, secret })
}

export function signingSecrets(
  db: ServiceDatabase | ServiceTransaction,
  endpointIds: readonly string[],
  at: Date,
): Promise<SecretRow[]> {
  return db
    .selectFrom('service.webhook_secret')
    .selectAll()
    .where(sql<boolean>`endpoint_id = any(${endpointIds})`)
    .where((build) => build.or([build('expires_at', 'is', null), build('expires_at', '>', at)]))
    .orderBy('version', 'desc')
    .execute()
}

export function openSecret(vault: SecretVault, { endpoint_id, version, sealed }: SecretRow): string {
  return vault.open(sealed, { endpointId: endpoint_id, version })
}

export function openKey(vault: SecretVault, row: SecretRow): SigningKey {
  const key = readSecret(openSecret(vault, row))
  assert(key !== null, 'only secrets that can be read are kept')
  return key
}

/** Signing requires the seed as well as the database. @throws Fault `settings_bad` if the seed is invalid */
export function openVault(seed: string): SecretVault {
  return openSecretVault(seedBytes(seed), 'depositd service webhook secrets')
}

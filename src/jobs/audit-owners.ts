import { contradictionsOf, ownerText } from '../core/address-book.ts'
import type { NetworkSettings } from '../core/asset.ts'
import type { OwnersClient } from '../provider/owners-client.ts'
import type { Database } from '../store/database.ts'
import type { MismatchChange } from '../store/mismatches/mismatches.ts'
import { changedAddresses, syncAddressChanged } from '../store/mismatches/owner-mismatches.ts'
import { readOwners } from '../store/owners.ts'
import type { Tables } from '../store/tables.ts'

export type AuditDeps = { db: Database<Tables>; client: OwnersClient; networks: readonly NetworkSettings[] }

export type OwnerAudit = {
  /** Our owners that the service listed. */
  compared: number
  changes: readonly MismatchChange[]
}

/**
 * Compares the service's lists of channels and wallets with the address book. A contradiction opens an
 * `address_changed`, which clears once the service states the approved value again. Owners that the service does not
 * list, or that are not ours, are ignored.
 */
export async function auditOwners(deps: AuditDeps): Promise<OwnerAudit> {
  const audits = [await auditKind(deps, 'channel'), await auditKind(deps, 'stable_wallet')]
  return {
    compared: audits.reduce((sum, { compared }) => sum + compared, 0),
    changes: audits.flatMap(({ changes }) => changes),
  }
}

async function auditKind(
  { db, client, networks }: AuditDeps,
  kind: 'channel' | 'stable_wallet',
): Promise<OwnerAudit> {
  const listed = await client.list(kind)
  if (listed === null) return { compared: 0, changes: [] }
  const statements = Map.groupBy(listed, ({ owner }) => ownerText(owner))
  const kept = await readOwners(
    db,
    kind,
    listed.map(({ owner }) => owner.id),
  )
  const compared = kept.map((entry) => ({
    owner: entry.owner,
    contradictions: (statements.get(ownerText(entry.owner)) ?? []).flatMap((stated) =>
      contradictionsOf(entry, stated, networks),
    ),
  }))
  const owners = kept.map(({ owner }) => owner)
  return {
    compared: kept.length,
    changes: await syncAddressChanged(db, owners, changedAddresses(compared)),
  }
}

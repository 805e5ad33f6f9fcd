import { type Kysely, sql, type Transaction } from 'kysely'
import type { NetworkName } from '../core/asset.ts'
import { type MismatchKind, mismatchKinds } from '../core/mismatch.ts'
import { type MismatchChange, openMismatches } from './mismatches.ts'
import type { Tables } from './tables.ts'

export type NetworkTrouble = {
  network: NetworkName
  kind: MismatchKind
  detail: Readonly<Record<string, string>>
}

/** Opens a mismatch about a network as a whole; one that is open takes the newer detail. */
export function openTrouble(
  tx: Transaction<Tables>,
  { network, kind, detail }: NetworkTrouble,
): Promise<MismatchChange[]> {
  const { severity } = mismatchKinds[kind]
  const none = { depositId: null, groupId: null, asset: null, value: null }
  return openMismatches(tx, [{ subject: subjectOf(network), kind, severity, network, detail, ...none }])
}

/** Ends such mismatches of a network, since what they tell of is over. */
export async function clearTroubles(
  db: Kysely<Tables>,
  network: NetworkName,
  kinds: readonly MismatchKind[],
): Promise<MismatchChange[]> {
  const { rows } = await sql<Omit<MismatchChange, 'change'>>`
    update mismatch set cleared_at = now(), cleared_how = 'evidence'
    where subject = ${subjectOf(network)} and kind = any(${kinds}::text[]) and cleared_at is null
    returning kind, severity, network`.execute(db)
  return rows.map((one) => ({ ...one, change: 'cleared' as const }))
}

function subjectOf(network: NetworkName): string {
  return `network/${network}`
}

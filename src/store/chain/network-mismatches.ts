import { type Kysely, sql, type Transaction } from 'kysely'
import type { NetworkName } from '../../core/asset.ts'
import { type MismatchKind, mismatchKinds } from '../../core/mismatch.ts'
import { endMismatches, type MismatchChange, openMismatches } from '../mismatches/mismatches.ts'
import type { Tables } from '../tables.ts'

export type NetworkTrouble = {
  network: NetworkName
  kind: MismatchKind
  detail: Readonly<Record<string, string>>
}

/** Opens a mismatch about a whole network. An open one takes the newer detail. */
export function openTrouble(
  tx: Transaction<Tables>,
  { network, kind, detail }: NetworkTrouble,
): Promise<MismatchChange[]> {
  const { severity } = mismatchKinds[kind]
  const none = { depositId: null, groupId: null, asset: null, value: null, loss: null }
  return openMismatches(tx, [{ subject: subjectOf(network), kind, severity, network, detail, ...none }])
}

/** Clears mismatches about a whole network whose cause is over. */
export function clearTroubles(
  db: Kysely<Tables>,
  network: NetworkName,
  kinds: readonly MismatchKind[],
): Promise<MismatchChange[]> {
  return endMismatches(db, sql`subject = ${subjectOf(network)} and kind = any(${kinds}::text[])`)
}

function subjectOf(network: NetworkName): string {
  return `network/${network}`
}

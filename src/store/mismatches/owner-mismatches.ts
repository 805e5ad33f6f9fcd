import { type Kysely, sql } from 'kysely'
import { type Contradiction, ownerKey } from '../../core/address-book.ts'
import type { Owner } from '../../core/evidence.ts'
import { mismatchKinds } from '../../core/mismatch.ts'
import { inTransaction } from '../database.ts'
import type { Tables } from '../tables.ts'
import {
  endMismatches,
  type HeldMismatch,
  isNoneOf,
  type MismatchChange,
  openMismatches,
} from './mismatches.ts'

const kind = 'address_changed'

/** Mismatches about owners for whom the service states other addresses than approved. */
export function changedAddresses(
  owners: readonly { owner: Owner; contradictions: readonly Contradiction[] }[],
): HeldMismatch[] {
  return owners.flatMap(({ owner, contradictions }): HeldMismatch[] => {
    const [first] = contradictions
    if (first === undefined) return []
    return [
      {
        subject: subjectOf(owner),
        kind,
        severity: mismatchKinds[kind].severity,
        depositId: null,
        groupId: null,
        // From the address book, since it is a label of metrics and the service may state any text.
        network: first.approved.split(' ')[0] ?? null,
        asset: null,
        value: null,
        loss: null,
        detail: {
          owner: ownerKey(owner),
          approved: contradictions.map(({ what, approved }) => `${what} ${approved}`).join(', '),
          stated: contradictions.map(({ what, stated }) => `${what} ${stated}`).join(', '),
        },
      },
    ]
  })
}

/** Opens mismatches about owners. Others that are open stay. */
export function openAddressChanged(
  db: Kysely<Tables>,
  held: readonly HeldMismatch[],
): Promise<MismatchChange[]> {
  return inTransaction(db, (tx) => openMismatches(tx, held))
}

/** Makes the mismatches about these owners match the given ones. */
export function syncAddressChanged(
  db: Kysely<Tables>,
  owners: readonly Owner[],
  held: readonly HeldMismatch[],
): Promise<MismatchChange[]> {
  return inTransaction(db, async (tx) => {
    const about = sql`kind = ${kind} and subject = any(${owners.map(subjectOf)}::text[])`
    const cleared = await endMismatches(tx, sql`${about} and ${isNoneOf(held)}`)
    return [...cleared, ...(await openMismatches(tx, held))]
  })
}

function subjectOf(owner: Owner): string {
  return `owner/${ownerKey(owner)}`
}

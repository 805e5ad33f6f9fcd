import { sql, type Transaction } from 'kysely'
import { type MismatchKind, mismatchKinds } from '../../core/mismatch.ts'
import {
  endMismatches,
  type HeldMismatch,
  isNoneOf,
  type MismatchChange,
  openMismatches,
} from '../mismatches/mismatches.ts'
import type { Tables } from '../tables.ts'

/** A part of the books that was checked against its source, and the errors found. */
export type BooksCheckResult = {
  subject: string
  detail: Readonly<Record<string, string>>
  faults: readonly string[]
}

/** Makes the open mismatches of this kind about these subjects match the errors found. */
export async function syncChecked(
  tx: Transaction<Tables>,
  kind: MismatchKind,
  checked: readonly BooksCheckResult[],
): Promise<MismatchChange[]> {
  const held = checked.filter(({ faults }) => faults.length > 0).map((one) => toMismatch(kind, one))
  const subjects = checked.map(({ subject }) => subject)
  const cleared = await endMismatches(
    tx,
    sql`kind = ${kind} and subject = any(${subjects}::text[]) and ${isNoneOf(held)}`,
  )
  return [...cleared, ...(await openMismatches(tx, held))]
}

function toMismatch(kind: MismatchKind, { subject, detail, faults }: BooksCheckResult): HeldMismatch {
  const none = { depositId: null, groupId: null, network: null, asset: null, value: null, loss: null }
  const found = { ...detail, found: faults.join('; ') }
  return { subject, kind, severity: mismatchKinds[kind].severity, ...none, detail: found }
}

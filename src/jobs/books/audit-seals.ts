import type { Seal } from '../../ledger/seals/seal.ts'
import { type Database, inTransaction } from '../../store/database.ts'
import { type BooksCheckResult, syncChecked } from '../../store/ledger/checked-mismatches.ts'
import type { MismatchChange } from '../../store/mismatches/mismatches.ts'
import type { Tables } from '../../store/tables.ts'
import { type CheckedSeal, checkSeals } from './check-seals.ts'

const journalsOfRun = 50_000

/**
 * Each call holds the next seals against their journals, and begins anew behind the last one. What is not as it was
 * sealed is a `seal_broken` of that seal until it is.
 */
export function createSealAudit(
  db: Database<Tables>,
  journalsMax = journalsOfRun,
): () => Promise<MismatchChange[]> {
  let behind: Seal | null = null
  return async () => {
    const { checked, next } = await checkSome(db, behind, journalsMax)
    behind = next
    return inTransaction(db, (tx) => syncChecked(tx, 'seal_broken', checked.map(toChecked)))
  }
}

function toChecked({ seal: { number }, faults }: CheckedSeal): BooksCheckResult {
  return { subject: `seal/${number}`, detail: { seal: number }, faults }
}

type Some = { checked: CheckedSeal[]; next: Seal | null }

async function checkSome(db: Database<Tables>, behind: Seal | null, journalsMax: number): Promise<Some> {
  const checked: CheckedSeal[] = []
  let journals = 0
  for await (const one of checkSeals(db, behind)) {
    checked.push(one)
    journals += one.journals
    if (journals >= journalsMax) return { checked, next: one.seal }
  }
  return { checked, next: null }
}

import { Fault } from '../core/errors.ts'
import { showNumberedDeposit } from '../store/books/show-deposits.ts'
import type { Database } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'
import type { createBundleMaker } from './evidence-bundle.ts'

/** Rows of a deposit that are shown, or put into a bundle. */
export const evidenceMax = 500

/** @throws Fault `usage_bad` if the bundle would not verify, or has too much evidence */
export async function readBundle(
  db: Database<Tables>,
  id: bigint,
  make: ReturnType<typeof createBundleMaker>,
): Promise<{ id: bigint; text: string } | null> {
  const shown = await showNumberedDeposit(db, id, evidenceMax + 1)
  if (shown === null) return null
  const fix = `run "bin/depositd deposits evidence ${shown.id} --out FILE"`
  if (shown.evidence.length > evidenceMax)
    throw new Fault('usage_bad', { problem: 'too much evidence for a bundle to be made here', fix })
  const made = await make(db, shown)
  if (made === null) return null
  const [failed] = made.failed
  if (failed === undefined) return { id: shown.id, text: made.text }
  const problem = `the bundle would not verify (${failed.check}: ${failed.says})`
  throw new Fault('usage_bad', { problem, fix: `${fix} to see all checks` })
}

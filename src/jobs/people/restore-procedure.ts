import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Tables } from '../../store/tables.ts'
import { withoutWorkers } from '../../store/worker-lock.ts'
import type { ApplyDeps } from '../books/apply.ts'
import { type BooksRestoration, restoreBooks } from '../books/restore-books.ts'
import type { BooksVerificationProgress } from '../books/verify-books.ts'
import type { DecidedBy, DecisionProcedure } from './decide.ts'
import { withApprover } from './decided-journals.ts'

export type RestoreChange = { reason: string }

export type LoadRestoreDeps = (
  db: Kysely<Tables>,
) => Promise<ApplyDeps & { report: (progress: BooksVerificationProgress) => void }>

/** Null until it has ended. */
export type RestoreResult = { restored: BooksRestoration | null }

const journalsMax = 100

/**
 * The books are restored after the decision, in many transactions. If that is interrupted, another decision continues it.
 * @throws Fault `usage_bad` while a worker of the daemon runs
 */
export function restoreProcedure(load: LoadRestoreDeps): DecisionProcedure {
  return async (db, change) => {
    const { reason } = change as RestoreChange
    const { report, ...deps } = await load(db)
    await withoutWorkers(db, async () => undefined)
    const result: RestoreResult = { restored: null }
    let people: DecidedBy | null = null
    return {
      people: 2,
      // What it books follows from the evidence, as "rebuild --verify" shows.
      grounds: async () => ({ evidence: null, books: [] }),
      async carryOut(_tx, who): Promise<RestoreResult> {
        people = who
        return result
      },
      async finish() {
        if (people === null) return
        const byHand = { ...withApprover(people), reason }
        result.restored = await withoutWorkers(db, () =>
          restoreBooks(deps, { holder: randomUUID(), people: byHand, journalsMax, onProgress: report }),
        )
      },
    }
  }
}

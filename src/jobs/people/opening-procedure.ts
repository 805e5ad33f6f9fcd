import type { Kysely } from 'kysely'
import type { Tables } from '../../store/tables.ts'
import { decideAllAnew, holdingDecisions } from '../books/activate-rules.ts'
import {
  bookOpeningWithin,
  checkOpening,
  type Opening,
  type OpeningDeps,
  readOpeningFile,
  refuseDifferences,
} from '../books/open-books.ts'
import { type OpeningProofDeps, proveOpening, readChains } from '../books/prove-opening.ts'
import type { DecisionProcedure } from './decide.ts'
import { journalBook, withApprover } from './decided-journals.ts'

/** `file` is its text; null to state what is proved. */
export type OpeningChange = { at: string; file: string | null; toSuspense: boolean; reason: string }

/** With the settings, and readers of the networks. */
export type LoadOpeningDeps = (db: Kysely<Tables>) => Promise<OpeningDeps & OpeningProofDeps>

export function openingProcedure(load: LoadOpeningDeps): DecisionProcedure {
  return async (db, change) => {
    const { reason, ...stated } = change as OpeningChange
    const deps = await load(db)
    const opening = await prepareOpening(deps, stated)
    let undone: { digest: string | null } | null = null
    return {
      people: 2,
      async grounds(tx) {
        const preview = await checkOpening({ ...deps, db: tx }, opening)
        if (!opening.toSuspense) refuseDifferences(preview.rows)
        return { evidence: null, books: [journalBook(preview)] }
      },
      async carryOut(tx, who) {
        const people = { ...withApprover(who), reason }
        const { result, digest } = await holdingDecisions(tx, () =>
          bookOpeningWithin({ ...deps, db: tx }, opening, people),
        )
        undone = { digest }
        return result
      },
      finish: async () => void (undone && (await decideAllAnew(db, undone.digest))),
    }
  }
}

/** Reads the file and the chains. @throws Fault `usage_bad` */
export async function prepareOpening(
  deps: OpeningDeps & OpeningProofDeps,
  { at: text, file, toSuspense }: Omit<OpeningChange, 'reason'>,
): Promise<Opening> {
  const at = new Date(text)
  const stated = file === null ? null : await readOpeningFile(deps, file)
  const { chains, received } = await readChains(deps, at)
  return { at, received, stated, toSuspense, prove: (db) => proveOpening({ ...deps, db }, at, chains) }
}

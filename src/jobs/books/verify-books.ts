import type { Transaction } from 'kysely'
import {
  allGroups,
  analyzeDerivedTables,
  type BooksComparison,
  type CreditDifference,
  compareBooks,
  compareCredits,
  compareEvidence,
  countApplied,
  countGroups,
  hashHoldings,
  hideDerivedTables,
  nextApplied,
} from '../../store/books/rebuild.ts'
import { openMismatches } from '../../store/mismatches/mismatches.ts'
import type { Tables } from '../../store/tables.ts'
import { type ApplyDeps, batchMax, decideGroups, saveRows } from './apply.ts'

/** A null side has no value. */
export type BooksDifference = Omit<BooksComparison, 'isDue' | 'what'> & {
  /** `evidence`: an observation that is not what its row of the inbox says. */
  what: BooksComparison['what'] | 'evidence'
}

export type BooksVerification = {
  rows: number
  pending: number
  groups: number
  subjects: number
  due: number
  differing: number
  differences: readonly BooksDifference[]
  /** They follow from the order of arrival, too, so that they are no part of the digests. */
  credits: { differing: number; differences: readonly CreditDifference[] }
  /** SHA-256. */
  live: string
  rebuilt: string
}

export type BooksVerificationProgress = { stage: 'read' | 'decided'; done: number; of: number }

type BooksVerificationOptions = {
  /** Limits the reported differences. */
  subjectsMax: number
  onProgress: (progress: BooksVerificationProgress) => void
}

/**
 * Rebuilds everything from all applied evidence, next to the live books. Reads one snapshot, so it can run beside the
 * daemon. Nothing it writes outlives the transaction.
 */
export function verifyBooks(deps: ApplyDeps, options: BooksVerificationOptions): Promise<BooksVerification> {
  const snapshot = deps.db.transaction().setIsolationLevel('repeatable read')
  return snapshot.execute(async (tx) => {
    await hideDerivedTables(tx)
    const read = await readAgain(tx, deps, options)
    await analyzeDerivedTables(tx)
    const now = deps.now()
    const groups = await decideAgain(tx, deps, { now, ...options })
    await analyzeDerivedTables(tx)
    return { ...read, groups, ...(await compare(tx, now, options)) }
  })
}

async function readAgain(tx: Transaction<Tables>, deps: ApplyDeps, { onProgress }: BooksVerificationOptions) {
  const { applied, pending } = await countApplied(tx)
  let done = 0
  let after = 0n
  for (;;) {
    const rows = await nextApplied(tx, after, batchMax)
    const last = rows.at(-1)
    if (last === undefined) return { rows: done, pending }
    const { unreadable } = await saveRows(tx, rows, deps)
    await openMismatches(tx, unreadable)
    after = last.id
    done += rows.length
    onProgress({ stage: 'read', done, of: applied })
  }
}

/** Decides once with all evidence: the live books must reach the same result for every order of arrival. */
async function decideAgain(
  tx: Transaction<Tables>,
  deps: ApplyDeps,
  { now, onProgress }: BooksVerificationOptions & { now: Date },
): Promise<number> {
  const of = await countGroups(tx)
  let done = 0
  for await (const groups of allGroups(tx)) {
    // Only the live books make chain requests.
    await decideGroups(tx, { groups, now }, { ...deps, readNetworks: null })
    done += groups.length
    onProgress({ stage: 'decided', done, of })
  }
  return done
}

async function compare(tx: Transaction<Tables>, now: Date, { subjectsMax }: BooksVerificationOptions) {
  const [live, rebuilt] = [hashHoldings(), hashHoldings()]
  const counts = { subjects: 0, due: 0, differing: 0 }
  const differences: BooksDifference[] = []
  for await (const subject of bySubject(compareBooks(tx, now))) {
    if (subject.some(({ isDue }) => isDue)) {
      counts.due++
      continue
    }
    counts.subjects++
    for (const one of subject) {
      if (one.live !== null) live.add(one, one.live)
      if (one.rebuilt !== null) rebuilt.add(one, one.rebuilt)
    }
    const differing = subject.filter((one) => one.live !== one.rebuilt)
    if (differing.length === 0) continue
    counts.differing++
    if (counts.differing <= subjectsMax) differences.push(...differing.map(differenceOf))
  }
  for await (const altered of compareEvidence(tx)) {
    const left = Math.max(0, subjectsMax - counts.differing)
    counts.differing += altered.length
    differences.push(
      ...altered.slice(0, left).map(({ inboxId, ...sides }) => ({
        subject: `inbox/${inboxId}`,
        what: 'evidence' as const,
        name: '',
        ...sides,
      })),
    )
  }
  const credits = await compareSafety(tx, subjectsMax)
  return { ...counts, differences, credits, live: live.digest(), rebuilt: rebuilt.digest() }
}

async function compareSafety(tx: Transaction<Tables>, differencesMax: number) {
  const differences: CreditDifference[] = []
  let differing = 0
  for await (const piece of compareCredits(tx)) {
    differences.push(...piece.slice(0, Math.max(0, differencesMax - differing)))
    differing += piece.length
  }
  return { differing, differences }
}

function differenceOf({ subject, what, name, live, rebuilt }: BooksComparison): BooksDifference {
  return { subject, what, name, live, rebuilt }
}

async function* bySubject(pieces: AsyncIterable<BooksComparison[]>): AsyncGenerator<BooksComparison[]> {
  let together: BooksComparison[] = []
  for await (const piece of pieces) {
    for (const one of piece) {
      if (together.length > 0 && together[0]?.subject !== one.subject) {
        yield together
        together = []
      }
      together.push(one)
    }
  }
  if (together.length > 0) yield together
}

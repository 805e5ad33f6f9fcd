import { lockGroups } from '../../store/books/groups.ts'
import { countApplied, countGroups, nextApplied } from '../../store/books/rebuild.ts'
import {
  absorbUnshown,
  adoptDeposits,
  attributeJournals,
  correctEvidence,
  countStored,
  groupsAfter,
  newestJournal,
  type RestoredJournal,
  reviveGroups,
} from '../../store/books/restore.ts'
import { inTransaction } from '../../store/database.ts'
import { waitingSince } from '../../store/inbox.ts'
import type { ByHand } from '../../store/ledger/journals.ts'
import { syncUnreadable } from '../../store/mismatches/mismatches.ts'
import { type Lease, moveCursor, releaseLease, seizeLease } from '../../store/streams.ts'
import { holdRules } from './activate-rules.ts'
import { type ApplyDeps, batchMax, decideGroups, saveRows } from './apply.ts'
import { refuseOnePerson, refuseReason } from './book-by-hand.ts'
import type { BooksVerificationProgress } from './verify-books.ts'

export type BooksRestoration = {
  /** An interrupted restore was continued. */
  resumed: boolean
  rows: number
  /** Observations that were missing or said something else. */
  corrected: number
  groups: number
  /** Journals. */
  written: number
  /** The first of them. */
  journals: RestoredJournal[]
}

type RestoreOptions = {
  /** Unique to this run. */
  holder: string
  people: ByHand
  /** Limits the journals that are reported. */
  journalsMax: number
  onProgress: (progress: BooksVerificationProgress) => void
}

/** First all rows are read, up to `after`; then all groups are decided. */
type RestorePosition = { stage: 'read' | 'decided'; after: string }

const stream = 'restore'
const leaseMs = 600_000
const groupsMax = 100

type RestoreRun = Omit<RestoreOptions, 'holder'> & {
  deps: ApplyDeps
  lease: Lease
  restored: BooksRestoration
}

/**
 * Reads every applied row of the inbox again, and then decides every group anew. What the books lack is booked, and what
 * does not follow from the evidence is reversed; no journal is changed. Safe to run twice, and to kill: the next run
 * continues.
 * @throws Fault `usage_bad` if one person approves alone, `lease_lost` if a later run took over
 */
export async function restoreBooks(
  deps: ApplyDeps,
  { holder, ...options }: RestoreOptions,
): Promise<BooksRestoration> {
  refuseOnePerson(options.people)
  refuseReason(options.people.reason)
  const lease = await seizeLease(deps.db, { stream, holder, ttlMs: leaseMs })
  const stored = lease.cursor as RestorePosition | null
  const restored: BooksRestoration = {
    resumed: stored !== null,
    rows: 0,
    corrected: 0,
    groups: 0,
    written: 0,
    journals: [],
  }
  const run: RestoreRun = { ...options, deps, lease, restored }
  try {
    if (stored?.stage !== 'decided') await readAll(run, BigInt(stored?.after ?? 0))
    await decideAll(run, stored?.stage === 'decided' ? BigInt(stored.after) : 0n)
    return restored
  } finally {
    await releaseLease(deps.db, lease)
  }
}

async function readAll(run: RestoreRun, from: bigint): Promise<void> {
  const { deps, restored, onProgress } = run
  const { applied } = await inTransaction(deps.db, async (tx) => {
    await reviveGroups(tx)
    return countApplied(tx)
  })
  for (let after: bigint | null = from; after !== null; ) {
    after = await readBatch(run, after)
    onProgress({ stage: 'read', done: restored.rows, of: applied })
  }
}

/** @returns the last row of the batch; null after the last batch */
async function readBatch(run: RestoreRun, after: bigint): Promise<bigint | null> {
  const { deps, lease, restored } = run
  const { rows, corrected, last } = await inTransaction(deps.db, async (tx) => {
    const some = await nextApplied(tx, after, batchMax)
    const before = await countStored(
      tx,
      some.map(({ id }) => id),
    )
    const { saved, unreadable } = await saveRows(tx, some, deps)
    const changed = await correctEvidence(tx, saved)
    await syncUnreadable(
      tx,
      some.map(({ id }) => id),
      unreadable,
    )
    const end = some.at(-1)?.id ?? null
    const position: RestorePosition =
      end === null ? { stage: 'decided', after: '0' } : { stage: 'read', after: `${end}` }
    await moveCursor(tx, lease, { cursor: position, progress: {} })
    return { rows: some.length, corrected: Math.max(0, saved.length - before) + changed, last: end }
  })
  restored.rows += rows
  restored.corrected += corrected
  return last
}

async function decideAll(run: RestoreRun, from: bigint): Promise<void> {
  const { deps, restored, onProgress } = run
  const of = await inTransaction(deps.db, countGroups)
  for (let after: bigint | null = from; after !== null; ) {
    after = await decideBatch(run, after)
    onProgress({ stage: 'decided', done: restored.groups, of })
  }
}

/** @returns the last group of the batch; null after the last batch */
async function decideBatch(run: RestoreRun, after: bigint): Promise<bigint | null> {
  const { deps, lease, restored, people, journalsMax } = run
  const { groups, journals } = await inTransaction(deps.db, async (tx) => {
    const some = await groupsAfter(tx, after, groupsMax)
    const newest = await newestJournal(tx)
    await lockGroups(tx, some)
    await adoptDeposits(tx, some)
    const completeUntil = await waitingSince(tx, [...(deps.failing ?? [])])
    const due = { groups: some, completeUntil, now: deps.now() }
    const rules = await holdRules(tx, deps.rules)
    const { trails } = await decideGroups(tx, due, { ...deps, rules })
    const shown = trails.map(({ depositId }) => depositId)
    await absorbUnshown(tx, some, shown)
    const end = some.at(-1)
    const position: RestorePosition | null = end === undefined ? null : { stage: 'decided', after: `${end}` }
    await moveCursor(tx, lease, { cursor: position, progress: {} })
    return { groups: some, journals: await attributeJournals(tx, newest, people) }
  })
  restored.groups += groups.length
  restored.written += journals.length
  restored.journals.push(...journals.slice(0, journalsMax - restored.journals.length))
  return groups.at(-1) ?? null
}

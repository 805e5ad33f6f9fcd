import type { DecisionContent } from './decision.ts'
import { type CheckedDecision, isSame } from './register.ts'

/** A row of the books or the evidence that people decided. `decision` is null without signatures. */
export type DecidedRow = {
  what: string
  decision: bigint | null
  by: string
  approvedBy: string | null
  reason: string | null
  /** What the signed text says of it. */
  books: unknown
}

/** None if exactly this was decided, by valid signatures of these people. What a restore books follows from the evidence. */
export function problemsOfDecided(row: DecidedRow, decision: CheckedDecision | undefined): string[] {
  const what = `${row.what} names decision ${row.decision}`
  if (decision?.content == null) return [`${what}, which does not exist or is no decision`]
  if (decision.state !== 'done') return [`${what}, which is ${decision.state}`]
  const [by = '', approvedBy = ''] = decision.signers
  if (!isSame(by, row.by) || !isSame(approvedBy, row.approvedBy ?? ''))
    return [`${what} and is by ${namesOf(row.by, row.approvedBy)}, but ${namesOf(by, approvedBy)} signed it`]
  return isDecided(row, decision.content) ? [] : [`${what}, in which other things were signed`]
}

function namesOf(by: string, approvedBy: string | null): string {
  return [by, approvedBy].filter((name) => name !== null && name !== '').join(' and ')
}

/** `books` of a row has the form of the signed text. */
function isDecided({ reason, books }: DecidedRow, { kind, change, grounds }: DecisionContent): boolean {
  if (kind === 'restore') return true
  const signed = change !== null && typeof change === 'object' && 'reason' in change ? change.reason : null
  const one = canonical(books)
  return signed === reason && grounds.books.some((book) => canonical(book) === one)
}

/** Regardless of the order of names: Postgres has its own. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(Object.entries(one).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : one,
  )
}

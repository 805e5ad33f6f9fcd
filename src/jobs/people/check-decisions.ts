import type { Transaction } from 'kysely'
import type { DecisionContent } from '../../people/decision.ts'
import { type CheckedDecision, foldDecisions, isSame } from '../../people/register.ts'
import type { DecisionKind } from '../../people/roles.ts'
import {
  type DecidedRow,
  decidedRows,
  mayReadEvidence,
  readDecisions,
  undecidedWriteOffs,
} from '../../store/decisions.ts'
import type { Tables } from '../../store/tables.ts'
import type { LedgerCheck } from '../books/ledger-checks.ts'

/**
 * Every signature is valid, and every row that names a decision is what its people signed.
 * @param pinned the public key of the first administrator; null to trust the first decision
 */
export function decisionsCheck(pinned: string | null): LedgerCheck {
  return {
    name: 'decisions',
    run: (db) =>
      db
        .transaction()
        .setIsolationLevel('repeatable read')
        .execute(async (tx) => {
          const stored = await readDecisions(tx, 'all')
          const { decisions, faults } = foldDecisions(stored, pinned)
          const findings = faults.map(({ decision, problem }) => `decision ${decision}: ${problem}`)
          let unsigned = 0
          const named = new Set<bigint>()
          for await (const rows of decidedRows(tx)) {
            for (const row of rows) {
              if (row.decision === null) unsigned += 1
              else findings.push(...findingsOf(row, decisions.get(row.decision)))
              if (row.decision !== null) named.add(row.decision)
            }
          }
          const readsEvidence = await mayReadEvidence(tx)
          if (readsEvidence) findings.push(...(await writeOffFindings(tx)))
          const isShown = shownKinds(readsEvidence)
          const missing = [...decisions].filter(
            ([id, { content, state }]) =>
              state === 'done' && content !== null && isShown(content.kind) && !named.has(id),
          )
          findings.push(...missing.map(([id]) => `decision ${id} is done, but what it decides is missing`))
          return { findings, counted: { decisions: stored.length, unsigned } }
        }),
  }
}

/** depositd books write-offs anew if the evidence changes. */
async function writeOffFindings(tx: Transaction<Tables>): Promise<string[]> {
  const undecided = await undecidedWriteOffs(tx)
  return undecided.map((id) => `journal ${id} writes off what no person decided`)
}

/** Decisions about people are only themselves. */
function shownKinds(readsEvidence: boolean): (kind: DecisionKind) => boolean {
  const hidden = readsEvidence ? ['person'] : ['person', 'write_off', 'match']
  return (kind) => !hidden.includes(kind)
}

function findingsOf(row: DecidedRow, decision: CheckedDecision | undefined): string[] {
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
function isDecided({ reason, books }: DecidedRow, { change, grounds }: DecisionContent): boolean {
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

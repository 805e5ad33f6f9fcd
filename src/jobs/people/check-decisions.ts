import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../core/errors.ts'
import { problemsOfDecided } from '../../people/decided-row.ts'
import { foldDecisions } from '../../people/register.ts'
import type { DecisionKind } from '../../people/roles.ts'
import {
  decidedRows,
  mayReadEvidence,
  readDecisions,
  undecidedResolutions,
  undecidedWriteOffs,
} from '../../store/decisions.ts'
import type { Tables } from '../../store/tables.ts'
import type { LedgerCheck, LedgerOutcome } from '../books/ledger-checks.ts'
import { readRegister } from './decide.ts'

/**
 * Every signature is valid, and every row that names a decision is what its people signed.
 * @param pinned the public key of the first administrator; null to trust the first decision
 * @param published that key in a published checkpoint
 */
export function decisionsCheck(pinned: string | null, published: string | null = null): LedgerCheck {
  return {
    name: 'decisions',
    async run(db) {
      const { findings, counted } = await checkDecisions(db, pinned)
      const { firstKey } = await readRegister(db, pinned)
      const isOther = published !== null && firstKey !== published
      const other = `the register of people begins with ${firstKey ?? 'no key'}, and the published checkpoint names ${published}`
      return { findings: [...(isOther ? [other] : []), ...findings], counted }
    },
  }
}

function checkDecisions(db: Kysely<Tables>, pinned: string | null): Promise<LedgerOutcome> {
  return db
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
          else findings.push(...problemsOfDecided(row, decisions.get(row.decision)))
          if (row.decision !== null) named.add(row.decision)
        }
      }
      const readsEvidence = await mayReadEvidence(tx)
      if (readsEvidence) findings.push(...(await undecidedFindings(tx)))
      const isShown = shownKinds(readsEvidence)
      const missing = [...decisions].filter(
        ([id, { content, state }]) =>
          state === 'done' && content !== null && isShown(content.kind) && !named.has(id),
      )
      findings.push(...missing.map(([id]) => `decision ${id} is done, but what it decides is missing`))
      return { findings, counted: { decisions: stored.length, unsigned } }
    })
}

/**
 * Before the books are closed or leave the database.
 * @param otherwise how to go on regardless
 * @throws Fault `usage_bad` if a row names a decision that people did not sign
 */
export async function refuseForged(
  db: Kysely<Tables>,
  pinned: string | null,
  otherwise: string,
): Promise<void> {
  const { findings } = await checkDecisions(db, pinned)
  const [first, ...more] = findings
  if (first === undefined) return
  throw new Fault('usage_bad', {
    problem: `${first}${more.length === 0 ? '' : `, and ${more.length} more`}`,
    fix: `see "bin/depositd ledger verify"; ${otherwise}`,
  })
}

/** depositd books write-offs anew if the evidence changes, and ends what evidence ends. */
async function undecidedFindings(tx: Transaction<Tables>): Promise<string[]> {
  const writeOffs = await undecidedWriteOffs(tx)
  const resolutions = await undecidedResolutions(tx)
  return [
    ...writeOffs.map((id) => `journal ${id} writes off what no person decided`),
    ...resolutions.map((id) => `mismatch ${id} may be a loss, and is resolved by no person`),
  ]
}

/** Decisions about people are only themselves, and a restore may find nothing to book. */
function shownKinds(readsEvidence: boolean): (kind: DecisionKind) => boolean {
  const hidden = [
    'person',
    'restore',
    ...(readsEvidence ? [] : ['write_off', 'match', 'resolve', 'addresses', 'policy']),
  ]
  return (kind) => !hidden.includes(kind)
}

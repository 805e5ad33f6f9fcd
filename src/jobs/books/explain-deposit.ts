import { decide, type Rules } from '../../core/decide.ts'
import { explainAll } from '../../core/explaining/explain.ts'
import type { Explanation } from '../../presentation/reasons.ts'
import { loadEvidence } from '../../store/books/load-evidence.ts'
import type { Database } from '../../store/database.ts'
import type { Tables } from '../../store/tables.ts'

type DepositIds = { id: bigint; groupId: bigint }

/** Explains the verdict on a deposit: decides again from all its evidence, under these rules. */
export async function explainDeposit(
  db: Database<Tables>,
  { id, groupId }: DepositIds,
  rules: Rules,
): Promise<Explanation> {
  const evidence = await loadEvidence(db, groupId)
  const at = new Date()
  const decided = evidence && decide(evidence.group, rules, at)
  const found = decided && explainAll(decided.deposits, evidence.rows, rules).find((one) => one.id === id)
  if (!found)
    return {
      problem: 'what is stored does not show this deposit any more; run "bin/depositd rebuild --verify"',
    }
  return { at, state: found.verdict.state, reasons: found.reasons }
}

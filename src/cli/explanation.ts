import { decide } from '../core/decide.ts'
import { explainAll, type Reason } from '../core/explaining/explain.ts'
import type { DepositState } from '../core/judging/reconcile.ts'
import { loadEvidence } from '../store/books/load-evidence.ts'
import type { Database } from '../store/database.ts'
import type { Tables } from '../store/tables.ts'
import type { KnownRules } from './show-settings.ts'

/** Why a deposit is judged as it is, made anew from what is stored; or why that cannot be told. */
export type Explanation = { at: Date; state: DepositState; reasons: readonly Reason[] } | { problem: string }

type Shown = { id: bigint; groupId: bigint }

export async function explainDeposit(
  db: Database<Tables>,
  { id, groupId }: Shown,
  known: KnownRules,
): Promise<Explanation> {
  if ('problem' in known) return { problem: `the settings cannot be read: ${known.problem}` }
  const evidence = await loadEvidence(db, groupId)
  const at = new Date()
  const decided = evidence && decide(evidence.group, known.rules, at)
  const found =
    decided && explainAll(decided.deposits, evidence.rows, known.rules).find((one) => one.id === id)
  if (!found)
    return { problem: 'what is stored does not show this deposit any more; run "depositd rebuild --verify"' }
  return { at, state: found.verdict.state, reasons: found.reasons }
}

export function explanationText(explanation: Explanation): string {
  return 'problem' in explanation
    ? `not told: ${explanation.problem}\n`
    : explanation.reasons.map(reasonText).join('')
}

/** What it says and where that stands; below it, what decided. */
export function reasonText({ what, says, evidence, rule, policy, until }: Reason): string {
  const rows = evidence.length === 0 ? '' : ` [inbox ${evidence.join(', ')}]`
  const decided = [rule, policy, until === null ? null : `until ${until.toISOString()}`]
  return `${what}: ${says}${rows}\n    ${decided.filter((part) => part !== null).join('; ')}\n`
}

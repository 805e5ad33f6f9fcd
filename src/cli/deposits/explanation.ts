import { explainDeposit } from '../../jobs/books/decide-again.ts'
import type { AssetLabels } from '../../presentation/mismatch-words.ts'
import { type Explanation, reasonText } from '../../presentation/reasons.ts'
import type { Database } from '../../store/database.ts'
import type { Tables } from '../../store/tables.ts'
import type { RulesOrProblem } from '../show-settings.ts'

/** Explains the verdict of a deposit, if the settings give the rules. */
export async function explainShown(
  db: Database<Tables>,
  shown: { id: bigint; groupId: bigint },
  known: RulesOrProblem,
): Promise<Explanation> {
  if ('problem' in known) return { problem: `the settings cannot be read: ${known.problem}` }
  return explainDeposit(db, shown, known.rules)
}

export function explanationText(explanation: Explanation, assets: AssetLabels): string {
  return 'problem' in explanation
    ? `not told: ${explanation.problem}\n`
    : explanation.reasons.map((reason) => reasonText(reason, assets)).join('')
}

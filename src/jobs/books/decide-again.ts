import type { Kysely } from 'kysely'
import { decide, type Rules } from '../../core/decide.ts'
import { compareDecisions, type VerdictChange } from '../../core/explaining/compare-decisions.ts'
import { explainAll } from '../../core/explaining/explain.ts'
import type { Explanation } from '../../presentation/reasons.ts'
import { loadGroups } from '../../store/books/evidence.ts'
import { loadEvidence } from '../../store/books/load-evidence.ts'
import { allGroups, countGroups } from '../../store/books/rebuild.ts'
import type { Database } from '../../store/database.ts'
import type { Tables } from '../../store/tables.ts'
import { rulesInForce } from './activate-rules.ts'

export type RulesTrial = { current: Rules; proposed: Rules; now: Date }

/**
 * Decides under both sets of rules, at one time. Reads one snapshot in a read-only transaction, so it can run beside
 * the daemon.
 * @param onBatch receives the changes of one batch, its number of groups, and the total number of groups
 */
export function tryRules(
  db: Kysely<Tables>,
  { current, proposed, now }: RulesTrial,
  onBatch: (batch: {
    groups: number
    deposits: number
    of: number
    changes: readonly VerdictChange[]
  }) => void,
): Promise<void> {
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
  return snapshot.execute(async (tx) => {
    const of = await countGroups(tx)
    for await (const ids of allGroups(tx)) {
      const pairs = (await loadGroups(tx, ids)).map((group) => ({
        before: decide(group, current, now),
        after: decide(group, proposed, now),
      }))
      const deposits = pairs.reduce((sum, { after: { deposits: found } }) => sum + found.length, 0)
      const changes = pairs.flatMap((pair) => compareDecisions(pair.before, pair.after))
      onBatch({ groups: ids.length, deposits, of, changes })
    }
  })
}

type DepositIds = { id: bigint; groupId: bigint }

export async function explainDeposit(
  db: Database<Tables>,
  { id, groupId }: DepositIds,
  settingsRules: Rules,
): Promise<Explanation> {
  const evidence = await loadEvidence(db, groupId)
  const rules = await rulesInForce(db, settingsRules)
  const at = new Date()
  const decided = evidence && decide(evidence.group, rules, at)
  const found = decided && explainAll(decided.deposits, evidence.rows, rules).find((one) => one.id === id)
  if (!found)
    return {
      problem: 'the stored evidence no longer shows this deposit; run "bin/depositd rebuild --verify"',
    }
  const { verdict, reasons, credit } = found
  return { at, state: verdict.state, reasons, obstacles: credit.kind === 'safe' ? [] : credit.obstacles }
}

import { type RuleSet, readRuleSet, ruleChanges, writeRuleSet } from '../../core/rule-set.ts'
import type { JsonValue } from '../../people/decision.ts'
import { holdDecisions, listRuleSets, saveActiveRules } from '../../store/streams.ts'
import { decideAllAnew, digestOfText } from '../books/activate-rules.ts'
import type { DecisionProcedure } from './decide.ts'
import { refused } from './refuse.ts'

/** A rule set as `writeRuleSet` has it: the whole policy that is to be active. */
export type PolicyChange = { rules: Record<string, JsonValue> }

export function policyChangeOf(rules: RuleSet): PolicyChange {
  return { rules: JSON.parse(writeRuleSet(rules)) as Record<string, JsonValue> }
}

/** What people sign of it, before each setting that changes: the SHA-256 of the rules, and of those that they replace. */
export type PolicyBook = { rules: string; replaces: string | null }

export const policyProcedure: DecisionProcedure = async (db, change) => {
  const [current] = await listRuleSets(db, 1)
  const rules = JSON.stringify((change as PolicyChange).rules)
  const wanted = readWanted(rules)
  const digest = digestOfText(rules)
  let isDone = false
  return {
    // That this needs no second person is itself decided by two.
    people: (current ? readRuleSet(current.rules) : wanted).policySecondPerson ? 2 : 1,
    async grounds(tx) {
      const [active] = await listRuleSets(tx, 1)
      if (active?.rules === rules && active.decision !== null)
        throw refused('this policy is active, and approved', 'nothing is to be done')
      const book: PolicyBook = { rules: digest, replaces: active ? digestOfText(active.rules) : null }
      return { evidence: null, books: [book, ...ruleChanges(active?.rules ?? null, rules)] }
    },
    async carryOut(tx, { decision, by, approvedBy }) {
      await holdDecisions(tx)
      await saveActiveRules(tx, { rules, digest }, { by, approvedBy, decision })
      isDone = true
    },
    finish: async () => void (isDone && (await decideAllAnew(db, digest))),
  }
}

/** @throws Fault `usage_bad` for the text of another version */
function readWanted(rules: string): Required<RuleSet> {
  try {
    const wanted = readRuleSet(rules)
    if (writeRuleSet(wanted) === rules) return wanted
  } catch {
    // Refused below.
  }
  throw refused('it is no policy of this version', 'request it anew with "bin/depositd policy approve"')
}

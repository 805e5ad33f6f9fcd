import { createHash } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import type { Rules } from '../../core/decide.ts'
import { Fault } from '../../core/errors.ts'
import { type RuleSet, readRuleSet, writeRuleSet } from '../../core/rule-set.ts'
import { markAllDue } from '../../store/books/groups.ts'
import {
  type ActiveRules,
  activeRules,
  hasPeople,
  holdDecisions,
  keepApplied,
  listRuleSets,
  markUnapplied,
  noteWaitingRules,
  saveActiveRules,
} from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'

type RulesActivationDeps = {
  db: Kysely<Tables>
  rules: RuleSet
  now: () => Date
  /** Even if there are people, who have not approved them. */
  withoutApproval?: boolean
}

/** `waiting`: the earlier rules stay active until people approve these. */
export type RulesActivation = 'activated' | 'unchanged' | 'waiting'

/**
 * If other rules were active, everything stored becomes due for a new decision, including closed deposits. Safe to run
 * twice and concurrently.
 * @returns `unchanged` also if other rules are active by now
 */
export async function activateRules(deps: RulesActivationDeps): Promise<RulesActivation> {
  const { db, rules, now } = deps
  const digest = digestOf(rules)
  const before = await activeRules(db)
  const isActive = before?.digest === digest
  if (!isActive && (await takesApproval(deps))) {
    await noteWaitingRules(db, digest)
    await completeActivation(db, before)
    return 'waiting'
  }
  if (before?.waiting !== undefined) await noteWaitingRules(db, null)
  if (isActive && before.isApplied) return 'unchanged'
  // From here on no process decides by other rules.
  if (!isActive) await saveActiveRules(db, { digest, rules: writeRuleSet(rules) })
  await markAllDue(db, now())
  return (await keepApplied(db, digest)) ? 'activated' : 'unchanged'
}

async function takesApproval({ db, withoutApproval = false }: RulesActivationDeps): Promise<boolean> {
  return !withoutApproval && (await hasPeople(db))
}

/** The process that made these rules active may have ended in between. */
async function completeActivation(db: Kysely<Tables>, active: ActiveRules | null): Promise<void> {
  if (active?.isApplied === false) await decideAllAnew(db, active.digest)
}

/**
 * For a change of what all decisions rest on: nothing is decided meanwhile. `decideAllAnew` follows after the commit; if the
 * process ends in between, the daemon does it.
 */
export async function holdingDecisions<Result>(
  tx: Transaction<Tables>,
  work: (tx: Transaction<Tables>) => Promise<Result>,
): Promise<{ result: Result; digest: string | null }> {
  await holdDecisions(tx)
  return { result: await work(tx), digest: await markUnapplied(tx) }
}

export async function decideAllAnew(db: Kysely<Tables>, digest: string | null): Promise<void> {
  await markAllDue(db, new Date(0))
  if (digest !== null) await keepApplied(db, digest)
}

/**
 * The rules that are active, even if the settings of this process differ.
 * @param otherwise before any were activated
 */
export async function rulesInForce<Wanted extends Rules>(
  db: Kysely<Tables>,
  otherwise: Wanted,
): Promise<Wanted | Required<RuleSet>> {
  const [newest] = await listRuleSets(db, 1)
  return newest === undefined ? otherwise : parsed(newest.rules)
}

/**
 * As `rulesInForce`. They stay active until the transaction ends.
 * @throws Fault `settings_bad` if people have yet to approve the first ones
 */
export async function holdRules(tx: Transaction<Tables>, otherwise: Rules): Promise<Rules> {
  const active = await activeRules(tx)
  if (active !== null && active.digest === latest?.digest) return latest.rules
  if (active === null || active.digest !== null) return rulesInForce(tx, otherwise)
  const fault =
    'no policy is active: two people approve that of the settings, beginning with "bin/depositd policy approve"'
  throw new Fault('settings_bad', { faults: [fault] })
}

let latest: { digest: string; rules: Required<RuleSet> } | null = null

/** The same text is parsed once. */
function parsed(text: string): Required<RuleSet> {
  const digest = digestOfText(text)
  if (latest?.digest !== digest) latest = { digest, rules: readRuleSet(text) }
  return latest.rules
}

/** Covers everything that affects verdicts, and the limits of one person. */
export function digestOf(rules: RuleSet): string {
  return digestOfText(writeRuleSet(rules))
}

export function digestOfText(ruleSet: string): string {
  return createHash('sha256').update(ruleSet).digest('hex')
}

import { createHash } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import type { Rules } from '../../core/decide.ts'
import { Fault } from '../../core/errors.ts'
import { markAllDue } from '../../store/books/groups.ts'
import { inTransaction } from '../../store/database.ts'
import {
  activeRules,
  holdDecisions,
  keepApplied,
  markUnapplied,
  saveActiveRules,
} from '../../store/streams.ts'
import type { Tables } from '../../store/tables.ts'

type RulesActivationDeps = { db: Kysely<Tables>; rules: Rules; now: () => Date }

/**
 * If other rules were active, everything stored becomes due for a new decision, including closed deposits. Safe to run
 * twice and concurrently.
 * @returns false if these were active already, or if other rules are active by now
 */
export async function activateRules({ db, rules, now }: RulesActivationDeps): Promise<boolean> {
  const digest = digestOf(rules)
  const before = await activeRules(db)
  if (before?.digest === digest && before.isApplied) return false
  // From here on no process decides by other rules.
  await saveActiveRules(db, { digest, isApplied: false, rules: textOf(rules) })
  await markAllDue(db, now())
  return await keepApplied(db, digest)
}

/** For a change of what all decisions rest on: nothing is decided meanwhile, and everything stored is due after it. */
export async function beforeAllDecisions<Result>(
  db: Kysely<Tables>,
  work: (tx: Transaction<Tables>) => Promise<Result>,
): Promise<Result> {
  const { digest, result } = await inTransaction(db, (tx) => holdingDecisions(tx, work))
  await decideAllAnew(db, digest)
  return result
}

/** `decideAllAnew` follows after the commit. If the process ends in between, the daemon does it. */
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
 * The deciding transaction keeps these rules active until it ends.
 * @throws Fault `settings_bad` if other rules are active: the settings of this process are outdated
 */
export async function refuseReplaced(tx: Transaction<Tables>, rules: Rules): Promise<void> {
  const now = await activeRules(tx)
  if (now === null || now.digest === digestOf(rules)) return
  const fault =
    'another policy is active: a process with other settings started later; restart this process with the active settings'
  throw new Fault('settings_bad', { faults: [fault] })
}

/** Covers everything that affects verdicts. */
export function digestOf(rules: Rules): string {
  return createHash('sha256').update(textOf(rules)).digest('hex')
}

function textOf({ policy, routes, senders, contras = [] }: Rules): string {
  return JSON.stringify({ policy, routes, contras, senders: [...senders].toSorted() }, inOrder)
}

function inOrder(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

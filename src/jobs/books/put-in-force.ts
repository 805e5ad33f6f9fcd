import { createHash } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import type { Rules } from '../../core/decide.ts'
import { Fault } from '../../core/errors.ts'
import { markAllDue } from '../../store/books/groups.ts'
import { inForce, keepApplied, keepInForce } from '../../store/books/rules-in-force.ts'
import type { Tables } from '../../store/tables.ts'

type RulesActivationDeps = { db: Kysely<Tables>; rules: Rules; now: () => Date }

/**
 * Makes these rules the ones by which everything is decided. Where others were in force, all that is stored becomes
 * due to be decided again, also what is closed. Safe to run twice and beside itself; nothing is done where they are
 * in force already.
 * @returns whether everything is decided again by them: not where they were already, nor where others are by now.
 */
export async function putInForce({ db, rules, now }: RulesActivationDeps): Promise<boolean> {
  const digest = digestOf(rules)
  const before = await inForce(db)
  if (before?.digest === digest && before.isApplied) return false
  // From here on nobody decides by other rules; so what is marked next stays decided by these.
  await keepInForce(db, { digest, isApplied: false })
  await markAllDue(db, now())
  return await keepApplied(db, digest)
}

/**
 * In the transaction that decides: these rules stay in force until it ends.
 * @throws Fault `settings_bad` where others are: this process was started with settings that are replaced by now.
 */
export async function refuseReplaced(tx: Transaction<Tables>, digest: string | undefined): Promise<void> {
  if (digest === undefined) return
  const now = await inForce(tx)
  if (now === null || now.digest === digest) return
  const fault =
    'policy is not the one in force: a process was started with another one later; restart this one'
  throw new Fault('settings_bad', { faults: [fault] })
}

/** SHA-256 of all by which deposits are judged. */
export function digestOf({ policy, routes, senders, contras = [] }: Rules): string {
  const text = JSON.stringify({ policy, routes, contras, senders: [...senders].toSorted() }, inOrder)
  return createHash('sha256').update(text).digest('hex')
}

function inOrder(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

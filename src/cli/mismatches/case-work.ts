import type { Transaction } from 'kysely'
import { accounts } from '../../core/chart.ts'
import type { TransferDecision } from '../../core/evidence.ts'
import type { MatchChange, WriteOffChange } from '../../jobs/books/decide-money.ts'
import { mentionsIn } from '../../jobs/people/mentions.ts'
import type { ResolveChange } from '../../jobs/people/money-procedures.ts'
import { inTransaction } from '../../store/database.ts'
import { attachFile } from '../../store/mismatches/attachments.ts'
import { type CaseAction, lossesOf, type SnoozeEnd, workOnCases } from '../../store/mismatches/cases.ts'
import { listMismatches } from '../../store/mismatches/show-mismatches.ts'
import { lastActOf, undoAct } from '../../store/mismatches/undo.ts'
import type { Tables } from '../../store/tables.ts'
import { mismatchIds, nameOf } from '../actor.ts'
import { type Context, withDatabase } from '../context.ts'
import { readBytes } from '../files.ts'
import { checkFilters } from '../filters.ts'
import { wholeOf } from '../lists.ts'
import { badValue, textOf, timeOf, wrongUse } from '../options.ts'
import { decideCommand } from '../people/decide.ts'
import { ownPerson, pinnedKey } from '../people/signing.ts'
import { printMismatches } from './mismatches.ts'

/** The last word is the name; `nobody` removes the assignment. */
export function assignCommand(context: Context, words: readonly string[]) {
  const name = words.at(-1) ?? ''
  if (/^\d+$/.test(name)) {
    const fix = 'end with the name of a person, or "nobody"; nothing was changed'
    throw wrongUse(`${name} is a number, not a name`, fix)
  }
  const to = name === 'nobody' ? null : nameOf('the name', name)
  return workOn(context, words.slice(0, -1), { action: 'assigned', to })
}

/** The last word is the comment. */
export function commentCommand(context: Context, words: readonly string[]) {
  const text = textOf('the comment', words.at(-1) ?? '')
  return workOn(context, words.slice(0, -1), { action: 'commented', text })
}

const snoozeEnds: Readonly<Record<string, SnoozeEnd>> = {
  changed: 'new evidence',
  'loss-grows': 'a larger loss',
}

export function snoozeCommand(context: Context, ids: readonly string[], { until }: { until: string }) {
  return workOn(context, ids, { action: 'snoozed', until: snoozeEnds[until] ?? comingTime(until) })
}

type EndOptions = { action: 'resolved' | 'reopened'; reason: string; breakGlass?: string }

/** What may be a loss is resolved by a signed decision. */
export async function endCommand(
  context: Context,
  words: readonly string[],
  { action, reason, breakGlass }: EndOptions,
): Promise<void> {
  const text = textOf('--reason', reason)
  const ids = mismatchIds(words)
  const losses = action === 'resolved' ? await withDatabase(context, (db) => lossesOf(db, ids)) : []
  if (losses.length === 0 && breakGlass === undefined) return workOn(context, words, { action, text })
  const change: ResolveChange = { mismatches: ids.map(String), reason: text }
  await decideCommand(context, { kind: 'resolve', change }, breakGlass)
}

/** Applies the action to all mismatches or none. */
function workOn(context: Context, words: readonly string[], act: CaseAction): Promise<void> {
  const ids = mismatchIds(words)
  return changeCases(context, async (tx, actor) => {
    const mentions = act.action === 'commented' ? await mentionsIn(tx, pinnedKey(context), act.text) : []
    await workOnCases(tx, ids, { ...act, actor, ...(mentions.length > 0 && { mentions }) })
    return { did: `${act.action} by ${actor}`, ids }
  })
}

export function attachCommand(context: Context, word: string, path: string): Promise<void> {
  const ids = mismatchIds([word])
  const [id = 0n] = ids
  const content = readBytes('the file', path)
  return changeCases(context, async (tx, actor) => {
    await attachFile(tx, id, { name: path, content, person: actor })
    return { did: `attached by ${actor}`, ids }
  })
}

/** What this person did last, at a command line or in the console. */
export function undoCommand(context: Context): Promise<void> {
  return changeCases(context, async (tx, actor) => {
    const event = await lastActOf(tx, actor)
    if (event === null)
      throw wrongUse(
        `${actor} did nothing in the last 15 minutes`,
        'do the opposite of what you did before that',
      )
    const { action, mismatches } = await undoAct(tx, event, actor)
    return { did: `${action} undone by ${actor}`, ids: mismatches }
  })
}

type CaseChange = { did: string; ids: readonly bigint[] }

/** Prints the mismatches after the change. */
async function changeCases(
  context: Context,
  change: (tx: Transaction<Tables>, actor: string) => Promise<CaseChange>,
): Promise<void> {
  const { did, rows, services } = await withDatabase(context, async (db) => {
    const person = await ownPerson(context, db, 'operator')
    const { ids, ...done } = await inTransaction(db, (tx) => change(tx, person))
    const changed = await listMismatches(db, { ids, also: 'all', limit: ids.length })
    return { ...done, rows: changed, services: await checkFilters(context, db, {}) }
  })
  if (!context.json) context.stdout.write(`${did}\n`)
  printMismatches(context, wholeOf(rows), services)
}

/**
 * Null for `now`, which ends the snooze.
 * @throws Fault `usage_bad` unless a future time
 */
function comingTime(text: string): Date | null {
  if (text === 'now') return null
  const time = timeOf('--until', text, 1)
  if (time > new Date()) return time
  throw badValue(
    '--until',
    text,
    'give a future time, how long from now, like 24h or 3d, "loss-grows", "changed" or "now"',
  )
}

type DecisionOptions = { reason: string; breakGlass?: string }

export async function writeOffCommand(
  context: Context,
  word: string,
  { reason, breakGlass, ...options }: DecisionOptions & WriteOffOptions,
): Promise<void> {
  const [mismatchId = 0n] = mismatchIds([word])
  const change: WriteOffChange = {
    mismatch: mismatchId.toString(),
    ...verdictOf(options),
    reason: textOf('--reason', reason),
  }
  await decideCommand(context, { kind: 'write_off', change }, breakGlass)
}

type MatchOptions = DecisionOptions & {
  kind: 'together' | 'apart'
  transfer: string
  role?: TransferDecision['role']
}

export async function matchCommand(
  context: Context,
  deposit: string,
  { kind, transfer, role, reason, breakGlass }: MatchOptions,
): Promise<void> {
  const change: MatchChange = {
    deposit,
    transfer,
    role: role ?? null,
    verdict: kind,
    reason: textOf('--reason', reason),
  }
  await decideCommand(context, { kind: 'match', change }, breakGlass)
}

const accountOf = { expenses: accounts.writeOff, receivable: accounts.receivable, owner: 'owner' } as const

type WriteOffOptions = { account?: keyof typeof accountOf; withdraw?: boolean }

function verdictOf({ account, withdraw }: WriteOffOptions): Pick<WriteOffChange, 'verdict' | 'account'> {
  if (withdraw === true) return { verdict: 'write_off_withdrawn', account: null }
  if (account !== undefined) return { verdict: 'write_off', account: accountOf[account] }
  const fix = 'use one of --account expenses, --account receivable, --account owner and --withdraw'
  throw wrongUse('a write-off requires --account or --withdraw', fix)
}

import { randomUUID } from 'node:crypto'
import { accounts } from '../../core/chart.ts'
import { type DecisionOutcome, type TransferDecision, transferRef } from '../../core/evidence.ts'
import {
  type DecideDeps,
  type DecisionAttribution,
  decideMatch,
  decideWriteOff,
} from '../../jobs/books/decide-money.ts'
import { inTransaction } from '../../store/database.ts'
import { type CaseAction, workOnCases } from '../../store/mismatches/cases.ts'
import { listMismatches } from '../../store/mismatches/show-mismatches.ts'
import { type Actor, actorOf, actorText, mismatchIds, nameOf } from '../actor.ts'
import { attachedSettings, type Context, withDatabase } from '../context.ts'
import { checkFilters } from '../filters.ts'
import { wholeOf } from '../lists.ts'
import { badValue, textOf, timeOf, wrongUse } from '../options.ts'
import { print, printable } from '../print.ts'
import { withRules } from '../rules.ts'
import { printMismatches } from './mismatches.ts'

type CaseOptions = { by?: string }

/** The last word is the name; `nobody` removes the assignment. */
export function assignCommand(context: Context, words: readonly string[], options: CaseOptions) {
  const name = words.at(-1) ?? ''
  if (/^\d+$/.test(name)) {
    const fix = 'end with the name of a person, or "nobody"; nothing was changed'
    throw wrongUse(`${name} is a number, not a name`, fix)
  }
  const to = name === 'nobody' ? null : nameOf('the name', name)
  return workOn(context, words.slice(0, -1), { ...options, act: { action: 'assigned', to } })
}

/** The last word is the comment. */
export function commentCommand(context: Context, words: readonly string[], options: CaseOptions) {
  const text = textOf('the comment', words.at(-1) ?? '')
  return workOn(context, words.slice(0, -1), { ...options, act: { action: 'commented', text } })
}

export function snoozeCommand(
  context: Context,
  ids: readonly string[],
  { until, ...options }: CaseOptions & { until: string },
) {
  return workOn(context, ids, { ...options, act: { action: 'snoozed', until: comingTime(until) } })
}

export function endCommand(
  context: Context,
  ids: readonly string[],
  { action, reason, ...options }: CaseOptions & { action: 'resolved' | 'reopened'; reason: string },
) {
  return workOn(context, ids, { ...options, act: { action, text: textOf('--reason', reason) } })
}

/** Applies the action to all mismatches or none. */
async function workOn(
  context: Context,
  words: readonly string[],
  { act, by }: CaseOptions & { act: CaseAction },
): Promise<void> {
  const ids = mismatchIds(words)
  const actor = actorOf(by)
  const { rows, services } = await withDatabase(context, async (db) => {
    await inTransaction(db, (tx) => workOnCases(tx, ids, { ...act, actor: actor.name }))
    const changed = await listMismatches(db, { ids, also: 'all', limit: ids.length })
    return { rows: changed, services: await checkFilters(context, db, {}) }
  })
  if (!context.json) context.stdout.write(`${act.action} ${actorText(actor)}\n`)
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
  throw badValue('--until', text, 'give a future time, how long from now, like 24h or 3d, or "now"')
}

type DecisionOptions = { reason: string; by?: string; approvedBy?: string }

export async function writeOffCommand(
  context: Context,
  word: string,
  options: DecisionOptions & WriteOffOptions,
): Promise<void> {
  const [mismatchId = 0n] = mismatchIds([word])
  const verdict = verdictOf(options)
  await decide(context, options, (deps, decision) => decideWriteOff(deps, { mismatchId, verdict }, decision))
}

type MatchOptions = DecisionOptions & {
  kind: 'together' | 'apart'
  transfer: string
  role?: TransferDecision['role']
}

export async function matchCommand(
  context: Context,
  deposit: string,
  { kind, transfer, role, ...options }: MatchOptions,
): Promise<void> {
  const about = { deposit, transfer, kind, role: role ?? null }
  await decide(context, options, (deps, decision) => decideMatch(deps, about, decision))
}

async function decide(
  context: Context,
  { reason, by, approvedBy }: DecisionOptions,
  work: (deps: DecideDeps, decision: DecisionAttribution) => Promise<TransferDecision>,
): Promise<void> {
  const actor = actorOf(by)
  const decision: DecisionAttribution = {
    id: randomUUID(),
    by: actor.name,
    approvedBy: approvedBy === undefined ? null : nameOf('--approved-by', approvedBy),
    reason: textOf('--reason', reason),
  }
  const { secondPersonAbove } = attachedSettings(context)
  const transferDecision = await withRules(context, (deps) => work({ ...deps, secondPersonAbove }, decision))
  print(context, transferDecision, printable(lineOf(transferDecision, actor)))
}

const accountOf = { expenses: accounts.writeOff, receivable: accounts.receivable, owner: 'owner' } as const

type WriteOffOptions = { account?: keyof typeof accountOf; withdraw?: boolean }

function verdictOf({ account, withdraw }: WriteOffOptions) {
  if (withdraw === true) return { kind: 'write_off_withdrawn' } as const
  if (account !== undefined) return { kind: 'write_off', account: accountOf[account] } as const
  const fix = 'use one of --account expenses, --account receivable, --account owner and --withdraw'
  throw wrongUse('a write-off requires --account or --withdraw', fix)
}

const said: Record<DecisionOutcome['kind'], string> = {
  write_off: 'written off',
  write_off_withdrawn: 'no longer written off',
  together: 'matched with',
  apart: 'split from',
}

function lineOf(transferDecision: TransferDecision, actor: Actor): string {
  const { verdict, approvedBy } = transferDecision
  const where =
    'account' in verdict ? ` to ${verdict.account === 'owner' ? 'the owner' : verdict.account}` : ''
  const whose = 'serviceId' in verdict ? ` deposit ${verdict.serviceId}` : ''
  const second = approvedBy === null ? '' : `, approved by ${approvedBy}`
  return `${transferRef(transferDecision)}: ${said[verdict.kind]}${where}${whose}, ${actorText(actor)}${second}\n`
}

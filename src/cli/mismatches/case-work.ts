import { randomUUID } from 'node:crypto'
import { Fault } from '../../core/errors.ts'
import { type DecisionOutcome, type TransferDecision, transferRef } from '../../core/evidence.ts'
import { accounts } from '../../core/posting.ts'
import { parseTime } from '../../core/time.ts'
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
import { wholeOf } from '../lists.ts'
import { choiceOf, parseSpan, textOf } from '../options.ts'
import { printable, printJson } from '../print.ts'
import { withRules } from '../rules.ts'
import { printMismatches } from './mismatches.ts'

type CaseOptions = { by?: string; json?: boolean }

/** The last word is the name; `nobody` removes the assignment. */
export function assignCommand(context: Context, words: readonly string[], options: CaseOptions) {
  const name = words.at(-1) ?? ''
  if (/^\d+$/.test(name)) {
    throw new Fault('usage_bad', {
      problem: `${name} is a number, not a name`,
      fix: 'end with the name of a person, or "nobody"; nothing was changed',
    })
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
  return workOn(context, ids, {
    ...options,
    act: { action: 'snoozed', until: comingTime(until, new Date()) },
  })
}

type CaseReasonOptions = CaseOptions & { reason: string }

export function resolveCommand(
  context: Context,
  ids: readonly string[],
  { reason, ...options }: CaseReasonOptions,
) {
  return workOn(context, ids, { ...options, act: { action: 'resolved', text: textOf('--reason', reason) } })
}

export function reopenCommand(
  context: Context,
  ids: readonly string[],
  { reason, ...options }: CaseReasonOptions,
) {
  return workOn(context, ids, { ...options, act: { action: 'reopened', text: textOf('--reason', reason) } })
}

/** Applies the action to all mismatches or none. */
async function workOn(
  context: Context,
  words: readonly string[],
  { act, json, ...options }: CaseOptions & { act: CaseAction },
): Promise<void> {
  const ids = mismatchIds(words)
  const actor = actorOf(options)
  const rows = await withDatabase(context, async (db) => {
    await inTransaction(db, (tx) => workOnCases(tx, ids, { ...act, actor: actor.name }))
    return listMismatches(db, { ids, also: 'all', limit: ids.length })
  })
  if (json !== true) context.stdout.write(`${act.action} ${actorText(actor)}\n`)
  printMismatches(context, wholeOf(rows), json === true ? { json } : {})
}

/**
 * Null for `now`, which ends the snooze.
 * @throws Fault `usage_bad` unless a future time
 */
function comingTime(text: string, now: Date): Date | null {
  if (text === 'now') return null
  const span = parseSpan(text)
  const time = span === null ? parseTime(text) : new Date(now.getTime() + span)
  if (time !== null && time > now) return time
  throw new Fault('usage_bad', {
    problem: `--until is ${JSON.stringify(text)}`,
    fix: 'give a future time, like 2026-12-24 or 2026-12-24T08:00:00Z, how long from now, like 24h or 3d, or "now"',
  })
}

type DecisionOptions = { reason: string; by?: string; approvedBy?: string; json?: boolean }

export async function writeOffCommand(
  context: Context,
  word: string,
  options: DecisionOptions & { account?: string; withdraw?: boolean },
): Promise<void> {
  const [mismatchId = 0n] = mismatchIds([word])
  const verdict = verdictOf(options)
  await decide(context, options, (deps, decision) => decideWriteOff(deps, { mismatchId, verdict }, decision))
}

export async function matchCommand(
  context: Context,
  deposit: string,
  { kind, transfer, role, ...options }: MatchOptions,
): Promise<void> {
  const about = { deposit, transfer, kind, role: role === undefined ? null : choiceOf('--role', role, roles) }
  await decide(context, options, (deps, decision) => decideMatch(deps, about, decision))
}

type MatchOptions = DecisionOptions & { kind: 'together' | 'apart'; transfer: string; role?: string }

const roles: readonly TransferDecision['role'][] = ['deposit', 'recipient']

async function decide(
  context: Context,
  { reason, by, approvedBy, json }: DecisionOptions,
  work: (deps: DecideDeps, decision: DecisionAttribution) => Promise<TransferDecision>,
): Promise<void> {
  const actor = actorOf(by === undefined ? {} : { by })
  const decision: DecisionAttribution = {
    id: randomUUID(),
    by: actor.name,
    approvedBy: approvedBy === undefined ? null : nameOf('--approved-by', approvedBy),
    reason: textOf('--reason', reason),
  }
  const { secondPersonAbove } = attachedSettings(context)
  const transferDecision = await withRules(context, (deps) => work({ ...deps, secondPersonAbove }, decision))
  if (json === true) printJson(context, transferDecision)
  else context.stdout.write(printable(lineOf(transferDecision, actor)))
}

const accountOf = { expenses: accounts.writeOff, receivable: accounts.receivable } as const

function verdictOf({ account, withdraw }: { account?: string; withdraw?: boolean }) {
  if (withdraw === true && account === undefined) return { kind: 'write_off_withdrawn' } as const
  if (withdraw === true || account === undefined) {
    throw new Fault('usage_bad', {
      problem: 'a write-off requires --account, and its withdrawal excludes it',
      fix: 'use one of --account expenses, --account receivable and --withdraw',
    })
  }
  const word = choiceOf('--account', account, ['expenses', 'receivable'])
  return { kind: 'write_off', account: accountOf[word] } as const
}

const said: Record<DecisionOutcome['kind'], string> = {
  write_off: 'written off',
  write_off_withdrawn: 'no longer written off',
  together: 'matched with',
  apart: 'split from',
}

function lineOf(transferDecision: TransferDecision, actor: Actor): string {
  const { verdict, approvedBy } = transferDecision
  const where = 'account' in verdict ? ` to ${verdict.account}` : ''
  const whose = 'serviceId' in verdict ? ` deposit ${verdict.serviceId}` : ''
  const second = approvedBy === null ? '' : `, approved by ${approvedBy}`
  return `${transferRef(transferDecision)}: ${said[verdict.kind]}${where}${whose}, ${actorText(actor)}${second}\n`
}

import { randomUUID } from 'node:crypto'
import { Fault } from '../../core/errors.ts'
import { type DecisionOutcome, type TransferDecision, transferRef } from '../../core/evidence.ts'
import { accounts } from '../../core/posting.ts'
import {
  type DecideDeps,
  type DecisionAttribution,
  decideMatch,
  decideWriteOff,
} from '../../jobs/books/decide-money.ts'
import { withRules } from '../apply-deps.ts'
import { attachedSettings, type Context } from '../context.ts'
import { textOf, wordOf } from '../options.ts'
import { printable, printJson } from '../print.ts'
import { type Actor, actorOf, actorText, mismatchIds, nameOf } from './case-options.ts'

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
  const about = { deposit, transfer, kind, role: role === undefined ? null : wordOf('role', role, roles) }
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
      problem: 'a write-off names one account, and its withdrawal none',
      fix: 'give either --account expenses, --account receivable or --withdraw',
    })
  }
  const word = wordOf('account', account, ['expenses', 'receivable'])
  return { kind: 'write_off', account: accountOf[word] } as const
}

const said: Record<DecisionOutcome['kind'], string> = {
  write_off: 'written off',
  write_off_withdrawn: 'no longer written off',
  together: 'put together with',
  apart: 'kept apart from',
}

function lineOf(transferDecision: TransferDecision, actor: Actor): string {
  const { verdict, approvedBy } = transferDecision
  const where = 'account' in verdict ? ` to ${verdict.account}` : ''
  const whose = 'serviceId' in verdict ? ` deposit ${verdict.serviceId}` : ''
  const second = approvedBy === null ? '' : `, approved by ${approvedBy}`
  return `${transferRef(transferDecision)}: ${said[verdict.kind]}${where}${whose}, ${actorText(actor)}${second}\n`
}

import type { Transaction } from 'kysely'
import { accounts } from '../../core/chart.ts'
import { Fault } from '../../core/errors.ts'
import {
  type DecisionOutcome,
  type ServiceId,
  type TransferDecision,
  transferRef,
  type writeOffAccounts,
} from '../../core/evidence.ts'
import type { SecondPersonLimits, Stake } from '../../core/second-person.ts'
import { recordDecisions } from '../../store/books/proposals.ts'
import { newestJournal } from '../../store/books/restore.ts'
import { journalsAfter } from '../../store/decisions.ts'
import { finishPending, takePending } from '../../store/inbox.ts'
import {
  appendEvents,
  type CaseEvent,
  inboxIdOf,
  lockCases,
  workOnCases,
} from '../../store/mismatches/cases.ts'
import {
  casesAbout,
  findTransfers,
  lockDeposit,
  type StakedDeposit,
  type StakedTransfer,
} from '../../store/mismatches/staked-deposits.ts'
import type { Tables } from '../../store/tables.ts'
import { type ApplyDeps, applyRows } from './apply.ts'
import { decisionOn } from './propose-matches.ts'

/** Of a person, by a signed decision with that uuid. */
export type DecisionAttribution = Pick<TransferDecision, 'id' | 'by' | 'approvedBy' | 'reason'> & {
  /** Its number; null without signatures. */
  decision: bigint | null
}

export type MoneyDeps = Omit<ApplyDeps, 'db'> & { secondPersonAbove: SecondPersonLimits }

/** Writes off the in-transit amount, or what a delivery lacks, or withdraws the write-off. */
export type WriteOffChange = {
  /** Its number. */
  mismatch: string
  verdict: 'write_off' | 'write_off_withdrawn'
  /** Null unless it is written off. */
  account: (typeof writeOffAccounts)[number] | null
  reason: string
}

export type MatchChange = {
  /** Our number, or the service's id. */
  deposit: string
  /** `network/transaction/index`. */
  transfer: string
  role: TransferDecision['role'] | null
  verdict: 'together' | 'apart'
  reason: string
}

/** What a decision about money is about, found and locked. */
export type MoneySubject = {
  stake: StakedTransfer
  /** What the limit of one person is compared with. */
  atStake: Stake
  verdict: DecisionOutcome
  /** Mismatches whose history names the decision. */
  cases: readonly bigint[]
  /** Ends or returns with it; null if there is none. */
  resolves: bigint | null
}

/** @throws Fault `usage_bad` if there is nothing to write off, `not_found` if there is no such mismatch */
export async function findWriteOff(
  tx: Transaction<Tables>,
  { mismatch, verdict: kind, account }: WriteOffChange,
): Promise<MoneySubject> {
  const mismatchId = BigInt(mismatch)
  const [one] = await lockCases(tx, [mismatchId])
  const deposit = await lockDeposit(tx, `${one?.depositId ?? ''}`)
  const payment = await payingTransfer(tx, deposit)
  if (one === undefined || deposit === undefined || payment === undefined)
    throw refused(`mismatch ${mismatchId} has no payment seen on a chain`)
  const isHeld = one.clearedAt === null && (one.resolvedAt === null) === (kind === 'write_off')
  const about = { stake: payment, cases: [mismatchId], resolves: isHeld ? mismatchId : null }
  if (kind === 'write_off_withdrawn') {
    if (deposit.writtenOff === null) throw refused(`deposit ${deposit.id} is not written off`)
    return { ...about, atStake: payment, verdict: { kind } }
  }
  return { ...about, ...writeOffAll(deposit, account) }
}

function writeOffAll(
  deposit: StakedDeposit,
  account: WriteOffChange['account'],
): Pick<MoneySubject, 'atStake' | 'verdict'> {
  const { of, asset, amount, ...named } = outstandingOf(deposit)
  const verdict = { kind: 'write_off', account: account ?? accounts.writeOff, of, asset, amount } as const
  return { atStake: { ...named, amount }, verdict }
}

/** @throws Fault `usage_bad` if nothing is outstanding, or all of it is written off */
function outstandingOf({ id, outstanding, writtenOff }: StakedDeposit) {
  if (outstanding === null)
    throw refused(
      `deposit ${id} has nothing to write off: it is not final, not booked, delivered in full, or the rest is not overdue`,
    )
  const isCovered = writtenOff?.of === outstanding.of && writtenOff.amount >= outstanding.amount
  if (isCovered) throw refused(`deposit ${id} is already written off`)
  return outstanding
}

/** @throws Fault `not_found` if the deposit or the transfer does not exist */
export async function findMatch(
  tx: Transaction<Tables>,
  { deposit: reference, transfer, role, verdict: kind }: MatchChange,
): Promise<MoneySubject> {
  const deposit = await lockDeposit(tx, reference)
  if (deposit === undefined)
    throw notFound(`there is no deposit ${reference}`, 'use a number from "bin/depositd deposits list"')
  if (deposit.serviceId === null)
    throw refused(`deposit ${deposit.id} has no service id: it consists of a chain transfer only`)
  const stake = onlyTransfer(await findTransfers(tx, transfer), { transfer, role })
  const verdict = { kind, serviceId: deposit.serviceId as ServiceId }
  return { stake, atStake: stake, verdict, cases: await casesAbout(tx, deposit, transfer), resolves: null }
}

/** The decision is stored as evidence, and applied in the same transaction. @returns the numbers of the journals that it booked */
export async function recordMoney(
  tx: Transaction<Tables>,
  { stake, verdict, cases, resolves }: MoneySubject,
  { at, ...decided }: DecisionAttribution & MoneyDeps & { at: Date },
): Promise<bigint[]> {
  const { id, by, approvedBy, reason, decision } = decided
  const newest = await newestJournal(tx)
  const made = decisionOn(stake, { id, verdict, by, approvedBy, reason, receivedAt: at })
  await recordDecisions(tx, [made])
  await appendEvents(
    tx,
    cases.map((one) => ({ ...eventOf(made, one), decision })),
  )
  if (resolves !== null) {
    const action = verdict.kind === 'write_off' ? 'resolved' : 'reopened'
    await workOnCases(tx, [resolves], { action, text: reason, actor: by, approvedBy, decision })
  }
  const inboxId = await inboxIdOf(tx, id)
  await applyRows(tx, await takePending(tx, { id: inboxId }), { ...decided, db: tx })
  await finishPending(tx, [inboxId])
  return journalsAfter(tx, newest, inboxId)
}

async function payingTransfer(tx: Transaction<Tables>, deposit: StakedDeposit | undefined) {
  if (!deposit?.transfer) return undefined
  return (await findTransfers(tx, deposit.transfer)).find(({ role }) => role === 'deposit')
}

function onlyTransfer(
  found: readonly StakedTransfer[],
  { transfer, role }: Pick<MatchChange, 'transfer' | 'role'>,
): StakedTransfer {
  const fitting = found.filter((one) => role === null || one.role === role)
  const [one, ...others] = fitting
  if (one === undefined)
    throw notFound(
      `no chain transfer ${transfer} to a watched address${role === null ? '' : ` (${role})`} is known`,
      'write it as network/transaction/index, as in "bin/depositd deposits proposals"',
    )
  if (others.length > 0)
    throw refused(
      `${transfer} is both a payment and a delivery`,
      'choose one with --role deposit or --role recipient',
    )
  return one
}

/** Amounts in base units, as text. */
export type OutcomeText = WithText<DecisionOutcome>

type WithText<Outcome> = Outcome extends { amount: bigint }
  ? Omit<Outcome, 'amount'> & { amount: string }
  : Outcome

export function outcomeText(outcome: DecisionOutcome): OutcomeText {
  return 'amount' in outcome ? { ...outcome, amount: outcome.amount.toString() } : outcome
}

const actions = {
  write_off: 'written_off',
  write_off_withdrawn: 'write_off_withdrawn',
  together: 'matched',
  apart: 'split',
} as const

function eventOf(transferDecision: TransferDecision, mismatchId: bigint): Omit<CaseEvent, 'decision'> {
  const { id, by: actor, approvedBy, reason: text, verdict } = transferDecision
  const after = { decision: id, transfer: transferRef(transferDecision), ...outcomeText(verdict) }
  return { mismatchId, actor, action: actions[verdict.kind], text, approvedBy, before: null, after }
}

function notFound(problem: string, fix: string): Fault<'not_found'> {
  return new Fault('not_found', { problem, fix: `${fix}; nothing was decided` })
}

function refused(problem: string, fix = 'see "bin/depositd deposits show"'): Fault<'usage_bad'> {
  return new Fault('usage_bad', { problem, fix: `${fix}; nothing was decided` })
}

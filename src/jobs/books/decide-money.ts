import type { Transaction } from 'kysely'
import { Fault } from '../../core/errors.ts'
import {
  type DecisionOutcome,
  type ServiceId,
  type TransferDecision,
  transferRef,
} from '../../core/evidence.ts'
import { checkSecondPerson, type SecondPersonLimits } from '../../core/second-person.ts'
import { recordDecisions } from '../../store/books/proposals.ts'
import { inTransaction } from '../../store/database.ts'
import {
  appendEvents,
  type CaseEvent,
  casesAbout,
  findTransfers,
  inboxIdOf,
  lockCases,
  lockDeposit,
  type StakedDeposit,
  type StakedTransfer,
  workOnCases,
} from '../../store/mismatches/cases.ts'
import type { Tables } from '../../store/tables.ts'
import { type ApplyDeps, applyPending } from './apply.ts'
import { decisionOn } from './propose-matches.ts'

export type DecisionAttribution = Pick<TransferDecision, 'id' | 'by' | 'approvedBy' | 'reason'>

export type DecideDeps = ApplyDeps & { secondPersonAbove: SecondPersonLimits }

type WriteOffVerdict = Extract<DecisionOutcome, { kind: 'write_off' | 'write_off_withdrawn' }>

/**
 * Writes off the in-transit amount, or what a delivery lacks, or withdraws the write-off. The decision is stored as evidence and applied at once.
 * @throws Fault `usage_bad` if there is nothing to decide, or a second person is missing
 */
export async function decideWriteOff(
  deps: DecideDeps,
  { mismatchId, verdict }: { mismatchId: bigint; verdict: WriteOffVerdict },
  decision: DecisionAttribution,
): Promise<TransferDecision> {
  const transferDecision = await inTransaction(deps.db, async (tx) => {
    const [one] = await lockCases(tx, [mismatchId])
    const deposit = await lockDeposit(tx, `${one?.depositId ?? ''}`)
    const payment = await payingTransfer(tx, deposit)
    if (one === undefined || deposit === undefined || payment === undefined)
      throw refused(`mismatch ${mismatchId} has no payment seen on a chain`)
    refuseIdle(deposit, verdict)
    const made = await record(tx, { stake: payment, verdict }, { ...decision, ...deps })
    await appendEvents(tx, [eventOf(made, mismatchId)])
    const isHeld = one.clearedAt === null
    const act = verdict.kind === 'write_off' ? 'resolved' : 'reopened'
    if (isHeld && (one.resolvedAt === null) === (act === 'resolved'))
      await workOnCases(tx, [mismatchId], { action: act, text: made.reason, actor: made.by })
    return made
  })
  return apply(deps, transferDecision)
}

/**
 * The decision is stored as evidence and applied at once.
 * @param about `deposit` is our number or the service's id; `transfer` is `network/transaction/index`
 * @throws Fault `not_found` if the deposit or the transfer does not exist, `usage_bad` if a second person is missing
 */
export async function decideMatch(
  deps: DecideDeps,
  about: {
    deposit: string
    transfer: string
    role: TransferDecision['role'] | null
    kind: 'together' | 'apart'
  },
  decision: DecisionAttribution,
): Promise<TransferDecision> {
  const transferDecision = await inTransaction(deps.db, async (tx) => {
    const deposit = await lockDeposit(tx, about.deposit)
    if (deposit === undefined)
      throw notFound(`there is no deposit ${about.deposit}`, 'use a number from "bin/depositd deposits list"')
    if (deposit.serviceId === null)
      throw refused(`deposit ${deposit.id} has no service id: it consists of a chain transfer only`)
    const stake = onlyTransfer(await findTransfers(tx, about.transfer), about)
    const verdict = { kind: about.kind, serviceId: deposit.serviceId as ServiceId }
    const made = await record(tx, { stake, verdict }, { ...decision, ...deps })
    const cases = await casesAbout(tx, deposit, about.transfer)
    await appendEvents(
      tx,
      cases.map((id) => eventOf(made, id)),
    )
    return made
  })
  return apply(deps, transferDecision)
}

async function payingTransfer(tx: Transaction<Tables>, deposit: StakedDeposit | undefined) {
  if (!deposit?.transfer) return undefined
  return (await findTransfers(tx, deposit.transfer)).find(({ role }) => role === 'deposit')
}

function refuseIdle({ id, isOutstanding, writtenOff }: StakedDeposit, { kind }: WriteOffVerdict): void {
  if (kind === 'write_off_withdrawn') {
    if (!writtenOff) throw refused(`deposit ${id} is not written off`)
  } else if (writtenOff) {
    throw refused(`deposit ${id} is already written off`)
  } else if (!isOutstanding) {
    throw refused(
      `deposit ${id} has nothing to write off: it is not final, not booked, delivered in full, or the rest is not overdue`,
    )
  }
}

function onlyTransfer(
  found: readonly StakedTransfer[],
  { transfer, role }: { transfer: string; role: TransferDecision['role'] | null },
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

type StakeDecision = { stake: StakedTransfer; verdict: DecisionOutcome }

async function record(
  tx: Transaction<Tables>,
  { stake, verdict }: StakeDecision,
  { secondPersonAbove, now, id, by, approvedBy, reason }: DecisionAttribution & DecideDeps,
): Promise<TransferDecision> {
  checkSecondPerson(stake, { by, approvedBy }, secondPersonAbove)
  const decided = { id, verdict, by, approvedBy, reason, receivedAt: now() }
  const transferDecision = decisionOn(stake, decided)
  await recordDecisions(tx, [transferDecision])
  return transferDecision
}

const actions = {
  write_off: 'written_off',
  write_off_withdrawn: 'write_off_withdrawn',
  together: 'matched',
  apart: 'split',
} as const

function eventOf(transferDecision: TransferDecision, mismatchId: bigint): CaseEvent {
  const { id, by: actor, approvedBy, reason: text, verdict } = transferDecision
  const after = { decision: id, transfer: transferRef(transferDecision), ...verdict }
  return { mismatchId, actor, action: actions[verdict.kind], text, approvedBy, before: null, after }
}

/** A row that a worker has already taken is left to it. */
async function apply(deps: ApplyDeps, transferDecision: TransferDecision): Promise<TransferDecision> {
  await applyPending(deps, { id: await inboxIdOf(deps.db, transferDecision.id) })
  return transferDecision
}

function notFound(problem: string, fix: string): Fault<'not_found'> {
  return new Fault('not_found', { problem, fix: `${fix}; nothing was decided` })
}

function refused(problem: string, fix = 'see "bin/depositd deposits show"'): Fault<'usage_bad'> {
  return new Fault('usage_bad', { problem, fix: `${fix}; nothing was decided` })
}

import { randomBytes, randomUUID } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../core/errors.ts'
import {
  type DecisionContent,
  type DecisionGrounds,
  type JsonValue,
  type Signer,
  writeDecision,
} from '../../people/decision.ts'
import { foldDecisions, isSame, type PeopleRegister } from '../../people/register.ts'
import { type DecisionKind, type PersonRole, requesters } from '../../people/roles.ts'
import { inTransaction, withoutRace } from '../../store/database.ts'
import { insertDecision, insertDecisionEvent, lockDecisions, readDecisions } from '../../store/decisions.ts'
import { patiently } from '../../store/ledger/maintenance.ts'
import type { Tables } from '../../store/tables.ts'

/** `uuid` is in the signed text, `decision` the number in the database; null without signatures. */
export type DecidedBy = { decision: bigint | null; uuid: string; by: string; approvedBy: string | null }

/**
 * One decision, ready to be made. Reading it may take long and is done before any lock. Both steps throw Fault `usage_bad`
 * if the decision is refused.
 */
export type PreparedDecision = {
  people: 1 | 2
  /** What it rests on and would book now. */
  grounds: (tx: Transaction<Tables>) => Promise<DecisionGrounds>
  /** Within the transaction that stores the last signature, after `grounds`. */
  carryOut: (tx: Transaction<Tables>, people: DecidedBy) => Promise<unknown>
  /** After the commit; safe to repeat. */
  finish?: () => Promise<void>
}

/** @param at when it was requested: what it books has this date, so that a second person signs the same */
export type DecisionProcedure = (db: Kysely<Tables>, change: JsonValue, at: Date) => Promise<PreparedDecision>

export type DecisionProcedures = Readonly<Record<DecisionKind, DecisionProcedure>>

export type DecisionDeps = {
  db: Kysely<Tables>
  procedures: DecisionProcedures
  /** The public key of the first administrator, from the settings. */
  pinned: string | null
  now: () => Date
}

/** `result` is null while the decision waits for a second person. */
export type DecisionResult = Pick<DecidedBy, 'by' | 'approvedBy'> & {
  id: bigint
  content: DecisionContent
  result: unknown
}

/** By valid decisions about people. */
export async function readRegister(db: Kysely<Tables>, pinned: string | null): Promise<PeopleRegister> {
  return foldDecisions(await readDecisions(db, { kind: 'person' }), pinned)
}

/**
 * Signs a decision and stores it. If it needs one person, it is done in the same transaction.
 * @throws Fault `usage_bad` if the person may not request it, or the decision itself is refused
 */
export async function requestDecision(
  deps: DecisionDeps,
  { kind, change }: { kind: DecisionKind; change: JsonValue },
  signer: Signer,
): Promise<DecisionResult> {
  const at = deps.now()
  return decide(deps, { kind, change, at }, async (tx, prepared) => {
    const register = await readRegister(tx, deps.pinned)
    refuseSigner(register, signer, requesters[kind])
    const content: DecisionContent = {
      decision: randomUUID(),
      nonce: randomBytes(16).toString('base64'),
      at: at.toISOString(),
      installation: register.firstKey ?? signer.key,
      kind,
      people: prepared.people,
      change,
      grounds: await prepared.grounds(tx),
    }
    const id = await insertDecision(tx, content, writeDecision(content))
    await addSignature(deps, tx, { id, content, signer })
    const people = { decision: id, uuid: content.decision, by: signer.person, approvedBy: null }
    const result = prepared.people === 1 ? await prepared.carryOut(tx, people) : null
    return { id, content, by: signer.person, approvedBy: null, result }
  })
}

/**
 * Signs as the second person, and does what was decided.
 * @throws Fault `usage_bad` if the person may not approve it, it does not wait, or its grounds have changed: it then ends
 */
export async function approveDecision(
  deps: DecisionDeps,
  id: bigint,
  signer: Signer,
): Promise<DecisionResult> {
  const { content: waiting } = await waitingDecision(deps, deps.db, id)
  const request = { ...waiting, at: new Date(waiting.at) }
  const approved = await decide(deps, request, async (tx, prepared) => {
    const { content, by } = await waitingDecision(deps, tx, id)
    refuseSigner(await readRegister(tx, deps.pinned), signer, 'approver')
    if (isSame(signer.person, by))
      throw refused(`${by} cannot approve their own decision`, 'let another person approve it')
    if (JSON.stringify(await prepared.grounds(tx)) !== JSON.stringify(content.grounds)) {
      await insertDecisionEvent(tx, id, { action: 'outdated', person: signer.person, signature: null })
      return null
    }
    await addSignature(deps, tx, { id, content, signer })
    const people = { decision: id, uuid: content.decision, by, approvedBy: signer.person }
    return { id, content, by, approvedBy: signer.person, result: await prepared.carryOut(tx, people) }
  })
  if (approved !== null) return approved
  throw refused(`what decision ${id} rests on has changed since`, 'look at it again, and request it anew')
}

async function decide<Result>(
  { db, procedures }: DecisionDeps,
  { kind, change, at }: { kind: DecisionKind; change: JsonValue; at: Date },
  work: (tx: Transaction<Tables>, prepared: PreparedDecision) => Promise<Result>,
): Promise<Result> {
  const prepared = await procedures[kind](db, change, at)
  const result = await patiently('the decision', () =>
    withoutRace(() =>
      inTransaction(db, async (tx) => {
        await lockDecisions(tx)
        return work(tx, prepared)
      }),
    ),
  )
  await prepared.finish?.()
  return result
}

/**
 * Without signatures, as the owner of the database: for the day on which keys are lost.
 * @throws Fault `usage_bad` if the decision is refused, or takes two people
 */
export async function decideUnsigned(
  deps: DecisionDeps,
  request: { kind: DecisionKind; change: JsonValue },
  { by, approvedBy }: Pick<DecidedBy, 'by' | 'approvedBy'>,
): Promise<unknown> {
  if (request.kind === 'person')
    throw refused('people are added only by signatures', 'see docs/people.md about lost keys')
  return decide(deps, { ...request, at: deps.now() }, async (tx, prepared) => {
    if (approvedBy !== null && isSame(by, approvedBy))
      throw refused(`${approvedBy} cannot approve their own decision`, 'name another person')
    if (prepared.people === 2 && approvedBy === null)
      throw refused('this takes two people', 'name both: --break-glass erin,max')
    return prepared.carryOut(tx, { decision: null, uuid: randomUUID(), by, approvedBy })
  })
}

type NewSignature = { id: bigint; content: DecisionContent; signer: Signer }

async function addSignature(
  deps: DecisionDeps,
  tx: Transaction<Tables>,
  { id, content, signer }: NewSignature,
): Promise<void> {
  const signature = signer.sign(writeDecision(content))
  await insertDecisionEvent(tx, id, { action: 'signed', person: signer.person, signature })
  await refuseInvalid(deps, tx, id)
}

/** Ends a waiting decision. The person who requested it withdraws it in the same way. */
export async function rejectDecision(
  deps: DecisionDeps,
  { id, reason }: { id: bigint; reason: string },
  signer: Signer,
): Promise<void> {
  await inTransaction(deps.db, async (tx) => {
    await lockDecisions(tx)
    const { by } = await waitingDecision(deps, tx, id)
    if (!isSame(by, signer.person)) refuseSigner(await readRegister(tx, deps.pinned), signer, 'approver')
    await insertDecisionEvent(tx, id, { action: 'rejected', person: signer.person, signature: null, reason })
  })
}

type WaitingDecision = { content: DecisionContent; by: string }

async function waitingDecision(deps: DecisionDeps, tx: Kysely<Tables>, id: bigint): Promise<WaitingDecision> {
  const { content, state, signers } = await refuseInvalid(deps, tx, id)
  const [by] = signers
  if (state !== 'waiting' || content === null || by === undefined)
    throw refused(`decision ${id} is ${state}`, 'see "bin/depositd decisions list"')
  return { content, by }
}

/** @throws Fault `usage_bad` if what the database holds of this decision is not what people signed */
async function refuseInvalid({ pinned }: DecisionDeps, tx: Kysely<Tables>, id: bigint) {
  const [decision] = await readDecisions(tx, { id })
  if (decision === undefined)
    throw new Fault('not_found', {
      problem: `there is no decision ${id}`,
      fix: 'use a number from "bin/depositd decisions list"',
    })
  const about = await readDecisions(tx, { kind: 'person' })
  const { decisions, faults } = foldDecisions(
    decision.kind === 'person' ? about : [...about, decision],
    pinned,
  )
  const fault = faults.find((one) => one.decision === id)
  const checked = decisions.get(id)
  if (fault === undefined && checked !== undefined) return checked
  throw refused(
    `decision ${id} is not valid: ${fault?.problem ?? 'it has no text'}`,
    'see "bin/depositd ledger verify"',
  )
}

/** @throws Fault `usage_bad` if this person may not request such a decision */
export async function refuseRequester(
  { db, pinned }: DecisionDeps,
  signer: Signer,
  kind: DecisionKind,
): Promise<void> {
  refuseSigner(await readRegister(db, pinned), signer, requesters[kind])
}

function refuseSigner(register: PeopleRegister, { person, key }: Signer, role: PersonRole): void {
  if (register.firstKey === null) {
    if (role === 'administrator') return
    throw refused(
      'there is no administrator yet',
      'add the first one, by their own key: "bin/depositd people add NAME --roles administrator"',
    )
  }
  const known = register.people.get(person.toLowerCase())
  if (known === undefined || !known.keys.includes(key))
    throw refused(
      `the key of ${person} is not in the register of people`,
      `let an administrator add it: "bin/depositd people add ${person} --key ${key} --roles ROLES"`,
    )
  if (!known.roles.includes(role))
    throw refused(
      `${person} is no ${role}, but ${known.roles.join(' and ')}`,
      `let a person with the role ${role} do it`,
    )
}

function refused(problem: string, fix: string): Fault<'usage_bad'> {
  return new Fault('usage_bad', { problem, fix: `${fix}; nothing was decided` })
}

import { randomBytes, randomUUID } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import {
  type DecisionContent,
  type DecisionGrounds,
  type JsonValue,
  type Signer,
  writeDecision,
} from '../../people/decision.ts'
import { foldDecisions, isSame, type PeopleRegister } from '../../people/register.ts'
import { type DecisionKind, requesters } from '../../people/roles.ts'
import { inTransaction, withoutRace } from '../../store/database.ts'
import { insertDecision, insertDecisionEvent, lockDecisions, readDecisions } from '../../store/decisions.ts'
import { patiently } from '../../store/ledger/maintenance.ts'
import type { Tables } from '../../store/tables.ts'
import { refused, refuseInvalid, refuseSigner, waitingDecision } from './refuse.ts'

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
  const request = { kind, change, at: deps.now() }
  return decide(deps, request, async (tx, prepared) => {
    const content = await contentOf(deps, tx, { request, prepared, signer })
    return storeRequest(deps, tx, { content, prepared, signer })
  })
}

/**
 * For a person who signs elsewhere: the content as it would be signed now. Nothing is stored.
 * @throws Fault as `requestDecision`
 */
export async function draftDecision(
  deps: DecisionDeps,
  { kind, change }: { kind: DecisionKind; change: JsonValue },
  signer: Signer,
): Promise<DecisionContent> {
  const request = { kind, change, at: deps.now() }
  return decide(deps, request, (tx, prepared) => contentOf(deps, tx, { request, prepared, signer }))
}

const draftMaxMs = 15 * 60_000

/**
 * Stores a draft that the person has signed.
 * @throws Fault as `requestDecision`, and if what was signed is not what would be drafted now
 */
export async function submitDecision(
  deps: DecisionDeps,
  draft: DecisionContent,
  signer: Signer,
): Promise<DecisionResult> {
  const request = { ...draft, at: new Date(draft.at) }
  const age = deps.now().getTime() - request.at.getTime()
  if (age < 0 || age > draftMaxMs) throw refused('the draft is too old', 'begin again')
  return decide(deps, request, async (tx, prepared) => {
    const content = { ...(await contentOf(deps, tx, { request, prepared, signer })), ...idsOf(draft) }
    if (writeDecision(content) !== writeDecision(draft))
      throw refused('what the draft rests on has changed since', 'look at it again')
    return storeRequest(deps, tx, { content, prepared, signer })
  })
}

function idsOf({ decision, nonce }: DecisionContent): Pick<DecisionContent, 'decision' | 'nonce'> {
  return { decision, nonce }
}

/** The number of a decision that waits with exactly this change; null if there is none. */
export async function findWaiting(
  { db, pinned }: DecisionDeps,
  { kind, change }: { kind: DecisionKind; change: JsonValue },
): Promise<bigint | null> {
  const stored = await readDecisions(db, { kind })
  const { decisions } = foldDecisions([...(await readDecisions(db, { kind: 'person' })), ...stored], pinned)
  const same = stored.findLast(({ id }) => {
    const { state, content = null } = decisions.get(id) ?? {}
    return state === 'waiting' && JSON.stringify(content?.change) === JSON.stringify(change)
  })
  return same?.id ?? null
}

type DatedChange = { kind: DecisionKind; change: JsonValue; at: Date }

type RequestParts = { request: DatedChange; prepared: PreparedDecision; signer: Signer }

async function contentOf(
  deps: DecisionDeps,
  tx: Transaction<Tables>,
  { request: { kind, change, at }, prepared, signer }: RequestParts,
): Promise<DecisionContent> {
  const register = await readRegister(tx, deps.pinned)
  refuseSigner(register, signer, requesters[kind])
  return {
    decision: randomUUID(),
    nonce: randomBytes(16).toString('base64'),
    at: at.toISOString(),
    installation: register.firstKey ?? signer.key,
    kind,
    people: prepared.people,
    change,
    grounds: await prepared.grounds(tx),
  }
}

type NewRequest = Omit<RequestParts, 'request'> & { content: DecisionContent }

/** If it needs one person, it is done in the same transaction. */
async function storeRequest(
  deps: DecisionDeps,
  tx: Transaction<Tables>,
  { content, prepared, signer }: NewRequest,
): Promise<DecisionResult> {
  const id = await insertDecision(tx, content, writeDecision(content))
  await addSignature(deps, tx, { id, content, signer })
  const people = { decision: id, uuid: content.decision, by: signer.person, approvedBy: null }
  const result = prepared.people === 1 ? await prepared.carryOut(tx, people) : null
  return { id, content, by: signer.person, approvedBy: null, result }
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
  { kind, change, at }: DatedChange,
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

/** @throws Fault `usage_bad` if this person may not request such a decision */
export async function refuseRequester(
  { db, pinned }: DecisionDeps,
  signer: Signer,
  kind: DecisionKind,
): Promise<void> {
  refuseSigner(await readRegister(db, pinned), signer, requesters[kind])
}

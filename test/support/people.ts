import type { Kysely } from 'kysely'
import type { WrittenJournal } from '../../src/jobs/books/book-by-hand.ts'
import { approveDecision, type DecisionDeps, requestDecision } from '../../src/jobs/people/decide.ts'
import type { LoadMoneyDeps } from '../../src/jobs/people/money-procedures.ts'
import { addFirstPerson, createProcedures } from '../../src/jobs/people/procedures.ts'
import { makeSigningKey } from '../../src/ledger/checkpoint.ts'
import { type JsonValue, type Signer, signerOf } from '../../src/people/decision.ts'
import type { DecisionKind, PersonRole } from '../../src/people/roles.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type Ran, runCommand } from './command.ts'
import { written } from './manual-journals.ts'

const keyOfName = (name: string) => makeSigningKey(name, 'log')

const now = () => new Date()

/** Erin requests and administrates, max approves. Their keys are the same in every test of a process. */
const keys = { erin: keyOfName('erin'), max: keyOfName('max') }

export const signers = { erin: signerOf(keys.erin.signer), max: signerOf(keys.max.signer) }

/** Of the commands of each. */
export const signingKeys = {
  erin: { SIGNING_KEY: keys.erin.text, ADMINISTRATOR_KEY: signers.erin.key },
  max: { SIGNING_KEY: keys.max.text, ADMINISTRATOR_KEY: signers.erin.key },
}

function noMoney(): never {
  throw new Error('this test decides about no money')
}

function notNeeded(): never {
  throw new Error('this test opens and restores no books')
}

export function decisionDeps(
  db: Kysely<Tables>,
  accountPatterns: readonly string[] = [],
  money: LoadMoneyDeps = noMoney,
): DecisionDeps {
  const pinned = signers.erin.key
  return {
    db,
    pinned,
    now,
    procedures: createProcedures({
      books: () => ({ accountPatterns, guards: [] }),
      money,
      opening: notNeeded,
      restore: notNeeded,
      addressPeople: () => 2,
      pinned,
      now,
    }),
  }
}

/** @param db of a login that may write decisions */
export async function addPeople(db: Kysely<Tables>): Promise<void> {
  await addFirstPerson(db, signers.erin)
  await addPerson(db, signers.max, ['approver'])
}

export async function addPerson(
  db: Kysely<Tables>,
  { person, key }: Signer,
  roles: readonly PersonRole[],
): Promise<void> {
  const change = { person, roles: [...roles], keys: [key] }
  await requestDecision(decisionDeps(db), { kind: 'person', change }, signers.erin)
}

/** Runs a command as erin; if its decision waits, max approves it, and the result is of that. */
export async function runDecided(
  line: string | readonly string[],
  environment: Record<string, string>,
): Promise<Ran> {
  const { SIGNING_KEY_FILE: _own, ...others } = environment
  const requested = await runCommand(line, { ...others, ...signingKeys.erin })
  const [, id, json] =
    /^(?:decision (\d+) is requested|\{\n {2}"decision": "(\d+)",\n {2}"state": "waiting")/.exec(
      requested.out,
    ) ?? []
  if (id === undefined && json === undefined) return requested
  const approve =
    json === undefined ? `decisions approve ${id} --yes` : `decisions approve ${json} --yes --json`
  return runCommand(approve, { ...others, ...signingKeys.max })
}

/** Erin requests, and max approves. @returns what was done */
export async function decideTogether(
  deps: DecisionDeps,
  request: { kind: DecisionKind; change: JsonValue },
): Promise<unknown> {
  const { id, content, result } = await requestDecision(deps, request, signers.erin)
  return content.people === 1 ? result : (await approveDecision(deps, id, signers.max)).result
}

/** Of the journal of `written`. */
export function journalRequest(changes: Partial<WrittenJournal> = {}) {
  const { date, lines, ...rest } = written(changes)
  const change = { date: date.toISOString(), lines: [...lines], ...rest } as unknown as JsonValue
  return { kind: 'journal', change } as const
}

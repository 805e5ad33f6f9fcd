import { createHash } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  approveDecision,
  type DecisionDeps,
  draftDecision,
  readRegister,
  rejectDecision,
  requestDecision,
  submitDecision,
} from '../../../src/jobs/people/decide.ts'
import { addFirstPerson } from '../../../src/jobs/people/procedures.ts'
import {
  makeSigningKey,
  type NoteKey,
  readVerifierKey,
  verifierKeyText,
} from '../../../src/ledger/checkpoint.ts'
import { type Signer, signerOf, writeDecision } from '../../../src/people/decision.ts'
import { openDatabase } from '../../../src/store/database.ts'
import { listDecisions } from '../../../src/store/decisions.ts'
import type { Tables } from '../../../src/store/tables.ts'
import type { Books } from '../../support/books.ts'
import { claim } from '../../support/evidence.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { problemOf } from '../../support/manual-journals.ts'
import { addPeople, addPerson, decisionDeps, journalRequest, signers } from '../../support/people.ts'
import { tamper } from '../../support/tamper.ts'

let books: Books
let decider: Kysely<Tables>
let deps: DecisionDeps

beforeEach(async () => {
  books = await openExampleBooks()
  const login = { url: books.url, poolMax: 4, applicationName: 'test decider', role: 'depositd_decider' }
  decider = openDatabase<Tables>(login)
  deps = decisionDeps(decider, ['assets:bank:main'])
  await addPeople(decider)
})
afterEach(async () => {
  await decider.destroy()
  await books[Symbol.asyncDispose]()
})

const { erin, max } = signers
const other = (name: string) => signerOf(makeSigningKey(name, 'log').signer)

const add = (person: string, role: string, key: string) => ({
  kind: 'person' as const,
  change: { person, roles: [role], keys: [key] },
})

const manual = async () =>
  (
    await sql<{ made_by: string; approved_by: string; decision_id: bigint }>`
      select made_by, approved_by, decision_id from accounting.manual_journals`.execute(books.db)
  ).rows

const states = async () =>
  (await listDecisions(books.db, { state: null, before: null, limit: 9 })).map(
    ({ kind, state }) => `${kind} ${state}`,
  )

test('a journal is booked once a second person signs the same text, with the decision', async () => {
  const { id, result } = await requestDecision(deps, journalRequest(), erin)
  expect(result).toBeNull()
  expect(await manual()).toEqual([])
  const approved = await approveDecision(deps, id, max)
  expect(approved.result).toMatchObject({ kind: 'manual', byHand: { by: 'erin', approvedBy: 'max' } })
  expect(await manual()).toEqual([{ made_by: 'erin', approved_by: 'max', decision_id: id }])
  expect(await states()).toEqual(['journal done', 'person done', 'person done'])
  expect(await problemOf(approveDecision(deps, id, max))).toBe(`decision ${id} is done`)
})

test('a draft stores nothing, and is requested once, as it was signed', async () => {
  const draft = await draftDecision(deps, journalRequest(), erin)
  expect(await states()).toEqual(['person done', 'person done'])
  expect(await problemOf(draftDecision(deps, journalRequest(), max))).toBe(
    'max is no accountant, but approver',
  )
  const { content } = await submitDecision(deps, draft, erin)
  expect(content).toEqual(draft)
  await expect(submitDecision(deps, draft, erin)).rejects.toThrow(/unique constraint "decision_uuid_key"/)
  expect(await states()).toEqual(['journal waiting', 'person done', 'person done'])
})

test('a draft is refused if it is old, or says something else than would be drafted now', async () => {
  const draft = await draftDecision(deps, journalRequest(), erin)
  const changed = 'what the draft rests on has changed since'
  const [book] = draft.grounds.books
  for (const odd of [
    { ...draft, people: 1 as const },
    { ...draft, installation: max.key },
    { ...draft, grounds: { ...draft.grounds, evidence: '0'.repeat(64) } },
    { ...draft, grounds: { ...draft.grounds, books: [book ?? null, book ?? null] } },
  ])
    expect(await problemOf(submitDecision(deps, odd, erin))).toBe(changed)
  const later = { ...deps, now: () => new Date(Date.now() + 16 * 60_000) }
  expect(await problemOf(submitDecision(later, draft, erin))).toBe('the draft is too old')
  const earlier = { ...deps, now: () => new Date(Date.now() - 60_000) }
  expect(await problemOf(submitDecision(earlier, draft, erin))).toBe('the draft is too old')
})

test('no person approves their own decision, under any spelling of their name', async () => {
  await addPerson(decider, { ...erin, person: 'erin' }, ['administrator', 'accountant', 'approver'])
  const { id } = await requestDecision(deps, journalRequest(), erin)
  expect(await problemOf(approveDecision(deps, id, erin))).toBe('erin cannot approve their own decision')
  const { publicKey, kind } = readVerifierKey(erin.key) as NoteKey
  const hashed = Buffer.concat([
    Buffer.from('erina\n'),
    Buffer.of(1),
    publicKey.export({ format: 'der', type: 'spki' }).subarray(-32),
  ])
  const keyId = createHash('sha256').update(hashed).digest().subarray(0, 4)
  const sameKey = {
    ...erin,
    person: 'erina',
    key: verifierKeyText({ name: 'erina', kind, id: keyId, publicKey }),
  }
  expect(await problemOf(addPerson(decider, sameKey, ['approver']))).toBe('a key belongs to another person')
  expect(await manual()).toEqual([])
})

test.each<[string, () => Signer, string]>([
  ['a stranger', () => other('eve'), 'the key of eve is not in the register of people'],
  [
    'another key under the name of an accountant',
    () => other('erin'),
    'the key of erin is not in the register',
  ],
  ['an approver', () => max, 'max is no accountant, but approver'],
])('%s requests no journal', async (_who, signer, problem) => {
  expect(await problemOf(requestDecision(deps, journalRequest(), signer()))).toContain(problem)
  expect(await states()).toEqual(['person done', 'person done'])
})

test('only an administrator adds people, and the last one cannot be removed', async () => {
  const eve = add('eve', 'approver', other('eve').key)
  expect(await problemOf(requestDecision(deps, eve, max))).toBe('max is no administrator, but approver')
  const last = add('erin', 'accountant', erin.key)
  expect(await problemOf(requestDecision(deps, last, erin))).toBe('no administrator with a key would remain')
  const taken = add('eve', 'approver', max.key)
  expect(await problemOf(requestDecision(deps, taken, erin))).toBe('a key is no public key of eve')
})

test('a person who was removed decides nothing more, and what they decided stands', async () => {
  const { id } = await requestDecision(deps, journalRequest(), erin)
  await approveDecision(deps, id, max)
  await requestDecision(deps, { kind: 'person', change: { person: 'max', roles: [], keys: [] } }, erin)
  const { id: next } = await requestDecision(deps, journalRequest({ reference: 'next' }), erin)
  expect(await problemOf(approveDecision(deps, next, max))).toBe(
    'the key of max is not in the register of people',
  )
  expect((await readRegister(books.db, erin.key)).faults).toEqual([])
  expect(await manual()).toHaveLength(1)
})

test('a decision about a deposit is outdated once its evidence has changed', async () => {
  const { id } = await requestDecision(deps, journalRequest({ deposit: 'dep_1' }), erin)
  await books.receive(claim({ status: 'failed', occurredAt: new Date() }))
  await books.settle()
  expect(await problemOf(approveDecision(deps, id, max))).toBe(
    `what decision ${id} rests on has changed since`,
  )
  expect(await states()).toContain('journal outdated')
  expect(await problemOf(approveDecision(deps, id, max))).toBe(`decision ${id} is outdated`)
  expect(await manual()).toEqual([])
})

test('a close is outdated once the balance that was signed has changed', async () => {
  const close = {
    kind: 'close',
    change: { period: '2026-01', action: 'closed', forced: true, reason: 'audit' },
  } as const
  const { id } = await requestDecision(deps, close, erin)
  const { id: journal } = await requestDecision(deps, journalRequest(), erin)
  await approveDecision(deps, journal, max)
  expect(await problemOf(approveDecision(deps, id, max))).toBe(
    `what decision ${id} rests on has changed since`,
  )
  const { id: again } = await requestDecision(deps, close, erin)
  expect((await approveDecision(deps, again, max)).result).toMatchObject({ sha256: expect.any(String) })
})

test('a decision is rejected by an approver, or withdrawn by its author, and ends', async () => {
  const { id } = await requestDecision(deps, journalRequest(), erin)
  expect(await problemOf(rejectDecision(deps, { id, reason: 'no' }, other('eve')))).toContain(
    'not in the register',
  )
  await rejectDecision(deps, { id, reason: 'twice' }, max)
  expect(await problemOf(approveDecision(deps, id, max))).toBe(`decision ${id} is rejected`)
  const { id: own } = await requestDecision(deps, journalRequest(), erin)
  await rejectDecision(deps, { id: own, reason: 'mistake' }, erin)
  expect(await states()).toEqual(['journal rejected', 'journal rejected', 'person done', 'person done'])
})

test('a text that was altered after it was signed is not approved', async () => {
  const { id } = await requestDecision(deps, journalRequest(), erin)
  await tamper(books, `update decision set text = replace(text, '"7.5"', '"9.5"') where id = ${id}`)
  expect(await problemOf(approveDecision(deps, id, max))).toBe(
    `decision ${id} is not valid: signed by erin: the signature is not valid`,
  )
})

test('a journal that its text lets one person decide alone is not valid', async () => {
  const { id, content } = await requestDecision(deps, journalRequest(), erin)
  const text = writeDecision({ ...content, people: 1 })
  await tamper(
    books,
    `update decision set people = 1, text = '${text.replaceAll("'", "''")}' where id = ${id}`,
    `update decision_event set signature = '${erin.sign(text)}' where decision_id = ${id}`,
  )
  expect(await problemOf(approveDecision(deps, id, max))).toBe(
    `decision ${id} is not valid: it takes two people`,
  )
})

test('a signature of another decision is not taken', async () => {
  const { id } = await requestDecision(deps, journalRequest(), erin)
  const { id: next } = await requestDecision(deps, journalRequest({ reference: 'next' }), erin)
  await tamper(
    books,
    `update decision_event set signature = (select signature from decision_event where decision_id = ${id}) where decision_id = ${next}`,
  )
  expect(await problemOf(approveDecision(deps, next, max))).toContain('the signature is not valid')
})

test.each([
  `insert into decision (uuid, kind, people, text) values (gen_random_uuid(), 'journal', 2, '{}')`,
  `insert into decision_event (decision_id, action, person, signature) values (1, 'signed', 'max', 'x')`,
  `insert into manual_journal (journal_id, reason, made_by, approved_by) values (1, 'x', 'erin', 'max')`,
  `insert into ledger_period_event (period, action, actor) values ('2026-01-01', 'soft_closed', 'erin')`,
])('the login of the daemon writes no decision: %s', async (statement) => {
  await expect(sql.raw(statement).execute(books.db)).rejects.toThrow('permission denied for table')
})

test.each([
  `insert into manual_journal (journal_id, reason, made_by, approved_by) values (1, 'x', 'erin', 'max')`,
  `insert into ledger_period_event (period, action, actor) values ('2026-01-01', 'soft_closed', 'erin')`,
])('the login for decisions writes none without a decision: %s', async (statement) => {
  await expect(sql.raw(statement).execute(decider)).rejects.toThrow(
    'only the owner of the database may decide without signatures',
  )
})

test('a register that begins with another key than the settings name has no people', async () => {
  const register = await readRegister(books.db, other('erin').key)
  expect(register.people.size).toBe(0)
  expect(register.faults).toHaveLength(2)
  await addFirstPerson(decider, erin)
  expect((await readRegister(books.db, erin.key)).people.size).toBe(2)
})

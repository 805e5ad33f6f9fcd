import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { decisionsCheck } from '../../../src/jobs/people/check-decisions.ts'
import { approveDecision, requestDecision } from '../../../src/jobs/people/decide.ts'
import { type Books, openBooksIn } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { manualJournals, people, problemOf, written } from '../../support/manual-journals.ts'
import { addPeople, decisionDeps, journalRequest, signers } from '../../support/people.ts'
import { copyOf } from '../../support/postgres.ts'
import { tamper } from '../../support/tamper.ts'
import { addJournal } from '../../support/unsigned.ts'

let made: Books

/** Decisions 3 and 4 are a journal and a forced close, by erin and max; another journal is not signed. */
beforeAll(async () => {
  made = await openExampleBooks()
  await addPeople(made.owner)
  const deps = decisionDeps(made.owner, ['assets:bank:main'])
  const { id: journal } = await requestDecision(deps, journalRequest(), signers.erin)
  await approveDecision(deps, journal, signers.max)
  await addJournal(manualJournals(made.owner), written({ reference: 'unsigned' }), people)
  const change = { period: '2026-01', action: 'closed', forced: true, reason: 'audit' }
  const { id: close } = await requestDecision(deps, { kind: 'close', change }, signers.erin)
  await approveDecision(deps, close, signers.max)
  await made.db.destroy()
  await made.owner.destroy()
})
afterAll(() => made[Symbol.asyncDispose]())

async function checked(...statements: string[]) {
  await using books = openBooksIn(await copyOf(made.url))
  await tamper(books, ...statements)
  return await decisionsCheck(signers.erin.key).run(books.db, () => undefined)
}

test('decisions that were left alone are valid, and what was not signed is counted', async () => {
  expect(await checked()).toEqual({ findings: [], counted: { decisions: 4, unsigned: 1 } })
})

test.each<[string, string[], RegExp]>([
  [
    'another approver',
    [`update manual_journal set approved_by = 'kim' where decision_id = 3`],
    /journal \d+ names decision 3 and is by erin and kim, but erin and max signed it/,
  ],
  [
    'another reason',
    [`update manual_journal set reason = 'another' where decision_id = 3`],
    /in which other things were signed/,
  ],
  [
    'another amount, in the signed text too',
    [
      `update ledger_transfer set amount = 9500000 where journal_id = (select journal_id from manual_journal where decision_id = 3)`,
      `update decision set text = replace(replace(text, '"7.5"', '"9.5"'), '"7500000"', '"9500000"') where id = 3`,
    ],
    /decision 3: signed by erin: the signature is not valid/,
  ],
  [
    'a journal that names the decision of another one',
    [`update manual_journal set decision_id = 3 where decision_id is null`],
    /in which other things were signed/,
  ],
  [
    'a journal that names a decision that waits',
    [`delete from decision_event where decision_id = 3 and person = 'max'`],
    /journal \d+ names decision 3, which is waiting/,
  ],
  [
    'a decision whose journal lost its name',
    [`update manual_journal set decision_id = null where decision_id = 3`],
    /decision 3 is done, but what it decides is missing/,
  ],
  [
    'a journal that names no decision that exists',
    [`delete from decision_event where decision_id = 3`, `delete from decision where id = 3`],
    /names decision 3, which does not exist/,
  ],
  [
    'another balance of a close',
    [`update ledger_period_event set sha256 = repeat('0', 64)`],
    /period event 1 names decision 4, in which other things/,
  ],
  [
    'a person who was never enrolled',
    [
      `update decision_event set person = 'eve' where decision_id = 3 and person = 'max'`,
      `update manual_journal set approved_by = 'eve' where decision_id = 3`,
    ],
    /decision 3: signed by eve: is not in the register/,
  ],
  [
    'an approver who loses the decision about them',
    [`delete from decision_event where decision_id = 2`, `delete from decision where id = 2`],
    /signed by max: is not in the register/,
  ],
])('%s is found', async (_what, statements, finding) => {
  const { findings } = await checked(...statements)
  expect(findings.join('\n')).toMatch(finding)
})

test('a published checkpoint pins the key with which the register begins', async () => {
  await using books = openBooksIn(await copyOf(made.url))
  const environment = { DATABASE_URL: books.url }
  await runCommand('ledger seal', environment)
  const { out } = await runCommand('ledger checkpoints export', environment)
  expect(out).toContain(`\nadministrator ${signers.erin.key}\n`)
  const file = join(await temporaryFolder(), 'checkpoints')
  writeFileSync(file, out)
  const verify = `ledger verify --against ${file} --json`
  const found = async () => {
    const { checks } = JSON.parse((await runCommand(verify, environment)).out) as {
      checks: { check: string; findings: string[] }[]
    }
    return checks.find(({ check }) => check === 'decisions')?.findings
  }
  expect(await found()).toEqual([])
  writeFileSync(file, out.replaceAll(signers.erin.key, signers.max.key))
  expect((await found())?.[0]).toBe(
    `the register of people begins with no key, and the published checkpoint names ${signers.max.key}`,
  )
})

test('books with a decision that is not valid are neither closed nor exported, unless people say so', async () => {
  await using books = openBooksIn(await copyOf(made.url))
  await tamper(books, `update manual_journal set approved_by = 'kim' where decision_id = 3`)
  const deps = decisionDeps(books.owner)
  const close = { period: '2026-02', action: 'closed', forced: false, reason: null }
  const problem = await problemOf(requestDecision(deps, { kind: 'close', change: close }, signers.erin))
  expect(problem).toMatch(/^journal \d+ names decision 3 and is by erin and kim/)
  const forced = { kind: 'close', change: { ...close, forced: true, reason: 'known' } } as const
  expect(await requestDecision(deps, forced, signers.erin)).toMatchObject({ content: { people: 2 } })
  const environment = { DATABASE_URL: books.url, ADMINISTRATOR_KEY: signers.erin.key }
  const folder = join(await temporaryFolder(), 'books')
  const exported = `ledger export --format csv --out ${folder}`
  expect(await runCommand(exported, environment)).toMatchObject({
    status: 2,
    err: expect.stringContaining('is by erin and kim'),
  })
  expect(await runCommand(`${exported} --unverified`, environment)).toMatchObject({ status: 0 })
})

test('a register that a superuser begins anew with a key of their own is found by the pinned key', async () => {
  await using books = openBooksIn(await copyOf(made.url))
  const { findings } = await decisionsCheck(signers.max.key).run(books.db, () => undefined)
  expect(findings.join('\n')).toContain('decision 1: signed by erin: is not in the register')
})

import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { openReaderLogins, type ReaderLogins } from '../../src/app/console-logins.ts'
import type { ConsoleUser } from '../../src/ops/console/people.ts'
import type { PersonRole } from '../../src/people/roles.ts'
import { inTransaction } from '../../src/store/database.ts'
import { workOnCases } from '../../src/store/mismatches/cases.ts'
import { listAudit } from '../../src/store/sessions.ts'
import type { Books } from '../support/books.ts'
import { booksWithPeople, overdue } from '../support/write-offs.ts'

let books: Books
let logins: ReaderLogins

beforeEach(async () => {
  books = await booksWithPeople()
  const opened = openReaderLogins(books.url)
  onTestFinished(() => opened[Symbol.asyncDispose]())
  logins = opened
})

const withRoles = (...roles: PersonRole[]): ConsoleUser => ({
  person: 'erin',
  roles,
  keys: [],
  passkeys: [],
  token: '',
  formToken: '',
})
const log = (...roles: PersonRole[]) => listAudit(logins.toAudit(withRoles(...roles)), all)
const all = { person: null, action: null, after: null, limit: 5 }

test('Postgres lets only an operator work on a case, and no one resolve a loss there', async () => {
  const id = await overdue(books)
  const assign = (user: ConsoleUser) =>
    inTransaction(logins.toWork(user), (tx) =>
      workOnCases(tx, [id], { action: 'assigned', to: 'erin', actor: 'erin' }),
    )
  await expect(assign(withRoles('viewer', 'auditor', 'administrator'))).rejects.toThrow('permission denied')
  await assign(withRoles('operator'))
  const operator = logins.toWork(withRoles('operator'))
  const resolve = sql`update mismatch set resolved_at = now(), resolved_by = 'erin', resolved_reason = 'x'`
  await expect(resolve.execute(operator)).rejects.toThrow('may be a loss')
  for (const statement of [
    'update mismatch set loss_amount = 0',
    'select * from session',
    'delete from mismatch_event',
  ])
    await expect(sql.raw(statement).execute(operator)).rejects.toThrow(/permission denied/)
})

test('Postgres shows what people did only to auditors and administrators', async () => {
  expect((await log('auditor')).length).toBeGreaterThan(0)
  expect((await log('administrator')).length).toBeGreaterThan(0)
  await expect(log('viewer', 'operator', 'approver')).rejects.toThrow('permission denied')
})

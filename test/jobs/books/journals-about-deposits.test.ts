import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { ServiceId } from '../../../src/core/evidence.ts'
import type { Amount } from '../../../src/core/money.ts'
import { verifyBooks } from '../../../src/jobs/books/verify-books.ts'
import { runCommand } from '../../support/command.ts'
import { at, claim, delivery, txId } from '../../support/evidence.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { manualJournals, people, problemOf, written } from '../../support/manual-journals.ts'
import { addJournal, reverseJournal } from '../../support/unsigned.ts'

test('a journal that names a deposit belongs to it, stands when all is decided anew, and is flagged once it changes', async () => {
  await using own = await openExampleBooks()
  const at3 = manualJournals(own.owner)
  const short = await sql<{ id: number }>`
    select id::int as id from mismatch where kind = 'settlement_short' and deposit_id = 3`.execute(own.db)
  const mismatch = short.rows[0]?.id
  const journal = await addJournal(at3, written({ mismatch }), people)
  const other = await addJournal(at3, written({ deposit: 'dep_1' }), people)
  expect([journal.depositId, other.depositId]).toEqual([3n, 1n])
  const history = await sql<{ action: string; text: string }>`
    select action, text, approved_by from accounting.mismatch_history
    where mismatch_id = ${mismatch} and actor = 'erin'`.execute(own.db)
  expect(history.rows).toEqual([
    { action: 'commented', text: `journal ${journal.id}: The service paid what it owed`, approved_by: 'max' },
  ])
  const changed = async () => {
    const { rows } = await sql<{ deposit: number; changed: boolean }>`
      select deposit_id::int as deposit, changed_at is not null as changed
      from accounting.manual_journals order by journal_id`.execute(own.db)
    return rows
  }
  await own.settle()
  const clock = { ...own.deps, now: () => at(3 * 24 * 60) }
  const found = await verifyBooks(clock, { subjectsMax: 10, onProgress: () => undefined })
  expect(found.differences).toEqual([])
  const before = [
    { deposit: 3, changed: false },
    { deposit: 1, changed: false },
  ]
  expect(await changed()).toEqual(before)
  await own.receive(delivery({ tx: txId('forward3'), index: '1', amount: 19_980_000n as Amount }))
  await own.settle()
  expect(await changed()).toEqual([{ deposit: 3, changed: true }, before[1]])
  const print = (line: string) => runCommand(line, { DATABASE_URL: own.url })
  expect((await print('ledger journal list --kind manual')).out).toMatch(/ 1 .*\n.* 3 changed /)
  expect((await print('deposits show 3')).out).toContain(journal.key)
  const back = await reverseJournal(own.owner, journal.id, { ...people, reason: 'the service delivered it' })
  expect(back.depositId).toBe(3n)
  expect(await changed()).toEqual([{ deposit: 3, changed: false }, before[1], { deposit: 3, changed: false }])
})

test('a journal that names a deposit without a payment stands too', async () => {
  await using own = await openExampleBooks()
  const reported = { serviceId: 'dep_9' as ServiceId, deposit: { tx: null } }
  await own.receive(claim({ ...reported, status: 'observed' }))
  await own.settle()
  const { id } = await addJournal(manualJournals(own.owner), written({ deposit: 'dep_9' }), people)
  await own.receive(claim({ ...reported, status: 'confirmed', receivedAt: at(9) }))
  await own.settle()
  const { rows } = await sql`select from ledger_journal where reverses = ${id}`.execute(own.db)
  expect(rows).toEqual([])
})

test.each([
  [{ deposit: '99' }, 'there is no deposit 99'],
  [{ mismatch: 99 }, 'there is no mismatch 99'],
  [{ deposit: '1', mismatch: 1 }, 'mismatch 1 is not about deposit 1'],
])('a journal about %j is refused', async (about, problem) => {
  await using own = await openExampleBooks()
  expect(await problemOf(addJournal(manualJournals(own.owner), written(about), people))).toContain(problem)
})

import { sql } from 'kysely'
import { beforeEach, expect, test } from 'vitest'
import { mayBeLost } from '../../../src/core/mismatch.ts'
import { severities } from '../../../src/core/mismatches/kind-entry.ts'
import type { Amount } from '../../../src/core/money.ts'
import { decisionsCheck } from '../../../src/jobs/people/check-decisions.ts'
import { approveDecision, requestDecision } from '../../../src/jobs/people/decide.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { countUnsigned } from '../../../src/store/decisions.ts'
import { workOnCases } from '../../../src/store/mismatches/cases.ts'
import { type Books } from '../../support/books.ts'
import { claim, delivery, payment, webhook } from '../../support/evidence.ts'
import { signers } from '../../support/people.ts'
import { booksWithPeople, mismatches, moneyDeps, openKinds, overdue } from '../../support/write-offs.ts'

let books: Books

beforeEach(async () => {
  books = await booksWithPeople()
})

const reason = 'the service pays it next month'

const resolution = (...ids: bigint[]) =>
  ({ kind: 'resolve', change: { mismatches: ids.map(String), reason } }) as const

const findings = async () => (await decisionsCheck(signers.erin.key).run(books.db, () => undefined)).findings

/** As a person with the disk of the database. */
async function forge(...changes: string[]): Promise<void> {
  for (const table of ['mismatch', 'mismatch_event'])
    await sql.raw(`alter table ${table} disable trigger user`).execute(books.owner)
  for (const change of changes) await sql.raw(change).execute(books.owner)
}

test('what may be a loss is resolved by two people, who sign what it is', async () => {
  const id = await overdue(books)
  const deps = moneyDeps(books)
  const { id: decision, content } = await requestDecision(deps, resolution(id), signers.erin)
  expect(content.people).toBe(2)
  expect(content.grounds.books).toMatchObject([
    { mismatch: `${id}`, kind: 'settlement_missing', loss: '100000000' },
  ])
  expect(await openKinds(books)).toEqual(['settlement_missing'])
  await approveDecision(deps, decision, signers.max)
  expect(await mismatches(books)).toMatchObject([{ status: 'resolved', reason }])
  const { rows } = await sql`
    select actor, approved_by, decision_id from accounting.mismatch_history where action = 'resolved'`.execute(
    books.db,
  )
  expect(rows).toEqual([{ actor: 'erin', approved_by: 'max', decision_id: decision }])
  expect(await findings()).toEqual([])
})

test('the login of the daemon resolves no loss, and names no decision', async () => {
  const id = await overdue(books)
  const act = { action: 'resolved', text: reason, actor: 'erin' } as const
  await expect(inTransaction(books.db, (tx) => workOnCases(tx, [id], act))).rejects.toThrow(
    'may be a loss, so that resolving it takes a signed decision',
  )
  const without = inTransaction(books.db, (tx) => workOnCases(tx, [id], { ...act, decision: null }))
  await expect(without).rejects.toThrow('resolving it needs a signed decision')
  const event = sql`
    insert into mismatch_event (mismatch_id, actor, action, text, decision_id) values (${id}, 'erin', 'commented', 'x', 1)`
  await expect(event.execute(books.db)).rejects.toThrow('needs a signed decision')
  expect(await openKinds(books)).toEqual(['settlement_missing'])
})

test.each([null, '0', '5'].flatMap((loss) => severities.map((severity) => ({ loss, severity }))))(
  'program and database agree on what may be lost: $loss, $severity',
  async ({ loss, severity }) => {
    const { rows } = await sql<{
      may: boolean
    }>`select may_be_lost(${loss}::numeric, ${severity}) as may`.execute(books.db)
    expect(rows).toEqual([{ may: mayBeLost({ loss, severity }) }])
  },
)

test('within the limit one person is enough, for all of an asset together', async () => {
  const id = await overdue(books)
  const request = async (limit: string) =>
    (await requestDecision(moneyDeps(books, new Map([['all', limit]])), resolution(id), signers.erin)).content
      .people
  expect(await request('99.99')).toBe(2)
  expect(await request('100')).toBe(1)
  expect(await openKinds(books)).toEqual([])
})

test('new evidence makes a waiting decision outdated', async () => {
  const short = delivery({ amount: 79_900_000n as Amount })
  await books.receive(webhook(), claim(), payment(), short)
  await books.settle()
  const [found] = await mismatches(books)
  const deps = moneyDeps(books)
  const { id } = await requestDecision(deps, resolution(found?.id ?? 0n), signers.erin)
  await books.receive(claim({ settlement: { amount: 109_900_000n as Amount } }))
  await books.settle()
  await expect(approveDecision(deps, id, signers.max)).rejects.toThrow(/changed since|was cleared/)
  expect((await mismatches(books)).filter(({ status }) => status === 'resolved')).toEqual([])
})

test('a forged resolution is found: without an event, with other losses, or for another mismatch', async () => {
  const id = await overdue(books)
  const deps = moneyDeps(books)
  const forged = `update mismatch set resolved_at = now(), resolved_by = 'erin', resolved_reason = 'forged'`
  await forge(forged)
  expect(await findings()).toEqual([`mismatch ${id} may be a loss, and is resolved by no person`])
  await forge('update mismatch set resolved_at = null, resolved_by = null, resolved_reason = null')
  const { id: decision } = await requestDecision(deps, resolution(id), signers.erin)
  await approveDecision(deps, decision, signers.max)
  await forge(`update mismatch_event set after = jsonb_set(after, '{loss}', '"5"')`)
  expect(await findings()).toContain(
    `mismatch event 1 names decision ${decision}, in which other things were signed`,
  )
})

test('without signatures, the owner of the database resolves it, and it is counted', async () => {
  const id = await overdue(books)
  const act = { action: 'resolved', text: reason, actor: 'erin', approvedBy: 'max', decision: null } as const
  await inTransaction(books.owner, (tx) => workOnCases(tx, [id], act))
  expect(await countUnsigned(books.db)).toBe(1)
  expect((await decisionsCheck(signers.erin.key).run(books.db, () => undefined)).counted).toMatchObject({
    unsigned: 1,
  })
})

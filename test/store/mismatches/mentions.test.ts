import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mentionsIn } from '../../../src/jobs/people/mentions.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { workOnCases } from '../../../src/store/mismatches/cases.ts'
import { listMentions } from '../../../src/store/mismatches/mentions.ts'
import { openMismatches } from '../../../src/store/mismatches/mismatches.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { explainStatements } from '../../support/explain-statements.ts'
import { addPeople } from '../../support/people.ts'

let books: Books

/** Erin and max are people of the register. */
beforeAll(async () => {
  books = await openBooks()
  await addPeople(books.owner)
  await inTransaction(books.db, (tx) =>
    openMismatches(tx, [{ subject: 'transfer/1', kind: 'settlement_unreported', detail: {} }]),
  )
})
afterAll(() => books[Symbol.asyncDispose]())

test.each([
  ['@erin', ['erin']],
  ["(@Erin, @max): see @erin's mail", ['erin', 'max']],
  ['ask @max.', ['max']],
  ['@erina and @nobody', []],
  ['erin@max, mail me@erin.example or @@erin', []],
])('%s names %j', async (text, names) => {
  expect(await mentionsIn(books.db, null, text)).toEqual(names)
})

test('the comments that name a person are found by an index, page by page', async () => {
  const comment = (text: string, mentions: string[]) =>
    inTransaction(books.db, (tx) =>
      workOnCases(tx, [1n], { actor: 'ines', action: 'commented', text, mentions }),
    )
  await comment('one', ['Erin'])
  await comment('two', ['max'])
  await comment('three', ['erin', 'max'])
  const texts = async (person: string, before?: bigint) =>
    (await listMentions(books.db, { person, before, limit: 1 })).map(({ text }) => text)
  const [newest] = await listMentions(books.db, { person: 'ERIN', limit: 1 })
  expect(newest).toMatchObject({ text: 'three', actor: 'ines', mismatch: 1n, status: 'open' })
  expect([await texts('erin', newest?.id), await texts('max')]).toEqual([['one'], ['three']])
  await sql`
    insert into mismatch_event (mismatch_id, actor, action, text, mentions)
    select 1, 'ines', 'commented', 'many', array['p' || n % 1000] from generate_series(1, 20000) as n`.execute(
    books.owner,
  )
  await sql`analyze mismatch_event`.execute(books.owner)
  const plans = await inTransaction(books.db, async (tx) => {
    const explained = explainStatements(tx)
    await listMentions(explained.tx, { person: 'erin', limit: 50 })
    return explained.plans.join()
  })
  expect(plans).toContain('mismatch_event_mentions')
})

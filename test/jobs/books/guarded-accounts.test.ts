import { expect, test } from 'vitest'
import { type WrittenJournal } from '../../../src/jobs/books/book-by-hand.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { manualJournals, people, problemOf, written } from '../../support/manual-journals.ts'
import { addJournal } from '../../support/unsigned.ts'

const guarded = ['liabilities:suspense', 'assets:bank:*']

test.each<[string, WrittenJournal['lines'][number], string | null]>([
  [
    'more than was there',
    { debit: 'liabilities:suspense', credit: 'expenses:write_off', amount: '40.000001', asset: 'base/USDC' },
    'liabilities:suspense would have a debit balance of 0.000001 USDC on base',
  ],
  [
    'all that was there',
    { debit: 'liabilities:suspense', credit: 'expenses:write_off', amount: '40', asset: 'base/USDC' },
    null,
  ],
  [
    'what was never there',
    { debit: 'expenses:write_off', credit: 'assets:bank:main', amount: '1', asset: 'base/USDT' },
    'assets:bank:main would have a credit balance of 1.000000 USDT on base',
  ],
  [
    'of an account without a guard',
    {
      debit: 'liabilities:deposits:channel:shop',
      credit: 'expenses:write_off',
      amount: '9000',
      asset: 'base/USDC',
    },
    null,
  ],
])('a guarded account does not give %s', async (_what, line, problem) => {
  await using own = await openExampleBooks()
  const work = addJournal(manualJournals(own.owner, guarded), written({ lines: [line] }), people)
  if (problem === null) expect((await work).kind).toBe('manual')
  else expect(await problemOf(work)).toBe(`${problem}, which accounts.guards refuses`)
})

test('of two journals that together take more than there is, one is booked; repeated, it is found booked', async () => {
  await using own = await openExampleBooks()
  const at3 = manualJournals(own.owner, guarded)
  const lines = [
    { debit: 'liabilities:suspense', credit: 'expenses:write_off', asset: 'base/USDC', amount: '30' },
  ]
  const one = () => addJournal(at3, written({ lines, reference: 'one' }), people)
  const other = () => addJournal(at3, written({ lines, reference: 'other' }), people)
  const results = await Promise.allSettled([one(), other()])
  expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
  const again = results[0]?.status === 'fulfilled' ? one : other
  expect(await problemOf(again())).toContain('this was already booked as journal')
})

test('what evidence brought to the other side may be brought back', async () => {
  await using own = await openExampleBooks()
  const at3 = manualJournals(own.owner)
  const lines = [
    { debit: 'liabilities:suspense', credit: 'expenses:write_off', asset: 'base/USDC', amount: '50' },
  ]
  await addJournal(at3, written({ lines }), people)
  const back = [
    { debit: 'expenses:write_off', credit: 'liabilities:suspense', asset: 'base/USDC', amount: '5' },
  ]
  const journal = await addJournal(manualJournals(own.owner, guarded), written({ lines: back }), people)
  expect(journal.kind).toBe('manual')
})

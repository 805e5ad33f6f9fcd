import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { showDeposits } from '../../../src/store/books/show-deposits.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { lockDeposit } from '../../../src/store/mismatches/staked-deposits.ts'
import type { Books } from '../../support/books.ts'
import { txId } from '../../support/evidence.ts'
import { openExampleBooks } from '../../support/example-books.ts'
import { explainStatements } from '../../support/explain-statements.ts'

let books: Books
let number: string

beforeAll(async () => {
  books = await openExampleBooks()
  const { rows } = await sql<{ id: bigint }>`
    select id from deposit where service_id = 'dep_2'`.execute(books.db)
  number = String(rows[0]?.id)
})
afterAll(() => books[Symbol.asyncDispose]())

const shown = async (reference: string) =>
  (await showDeposits(books.db, reference)).map(({ deposit }) => deposit.service_id)

const locked = (reference: string) => inTransaction(books.db, (tx) => lockDeposit(tx, reference))

describe('a deposit is found', () => {
  test.each([
    ['our number', () => number],
    ['the id of the service', () => 'dep_2'],
    ['the transaction of the payment', () => txId('pay2')],
    ['the transaction of the delivery', () => txId('forward2')],
  ])('by %s', async (_what, reference) => {
    expect(await shown(reference())).toEqual(['dep_2'])
  })

  test.each(['our number', 'the id of the service'])('for a decision by %s', async (what) => {
    const found = await locked(what === 'our number' ? number : 'dep_2')
    expect(found).toMatchObject({ serviceId: 'dep_2' })
  })

  test('by the number of one that was absorbed, as the one that absorbed it', async () => {
    await sql`
      insert into deposit (group_id, merged_into, state, matrix)
      select group_id, id, state, matrix from deposit where service_id = 'dep_1'`.execute(books.db)
    const { rows } = await sql<{ id: bigint }>`
      select id from deposit where merged_into is not null`.execute(books.db)
    const absorbed = String(rows[0]?.id)
    expect(await shown(absorbed)).toEqual(['dep_1'])
    expect(await locked(absorbed)).toMatchObject({ serviceId: 'dep_1' })
  })
})

test.each(['0', '007', '-1', '1 or true', '9'.repeat(30), `0x${'0'.repeat(64)}`, ''])(
  'no deposit is found by %j, and nothing breaks',
  async (reference) => {
    expect(await shown(reference)).toEqual([])
    expect(await locked(reference)).toBeUndefined()
  },
)

/** Where nothing else is possible all rows are read, however much that is avoided. */
test.each([
  ['shown', (tx: Parameters<typeof lockDeposit>[0]) => showDeposits(tx, '1')],
  ['decided on', (tx: Parameters<typeof lockDeposit>[0]) => lockDeposit(tx, '1')],
])('one that is %s is found by indexes alone', async (_what, find) => {
  const plans = await inTransaction(books.db, async (tx) => {
    await sql`set local enable_seqscan = off`.execute(tx)
    const explained = explainStatements(tx)
    await find(explained.tx)
    return explained.plans
  })
  expect(plans).toHaveLength(1)
  expect(plans[0]).toMatch(/Index|Bitmap/)
  expect(plans[0]).not.toContain('Seq Scan on deposit')
})

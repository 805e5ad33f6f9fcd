import { join } from 'node:path'
import { Client, type CustomTypesConfig } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceId } from '../../src/core/evidence.ts'
import type { Amount } from '../../src/core/money.ts'
import type { Period } from '../../src/ledger/period.ts'
import type { Books } from '../support/books.ts'
import { at, claim, payment, txId, webhook } from '../support/evidence.ts'
import { openExampleBooks } from '../support/example-books.ts'
import { psqlTable } from '../support/psql-table.ts'
import { changePeriod } from '../support/unsigned.ts'
import { readText, root } from './pages.ts'

const page = readText('docs/periods.md')
const examples = [...page.matchAll(/^```sql\n([\s\S]*?)^```\n\n```text\n([\s\S]*?)^```$/gm)].map(
  ([whole, sql = '']) => ({ whole, sql }),
)

let books: Books
let accountant: Client

/** January is closed by force, and a payment of it comes late. */
beforeAll(async () => {
  books = await openExampleBooks()
  const who = { by: 'erin', approvedBy: 'max', reason: 'the service answers in February' }
  await changePeriod(books.owner, { period: '2026-01' as Period, action: 'closed', forced: true, ...who })
  const claimHistory = {
    serviceId: 'dep_8' as ServiceId,
    status: 'confirmed',
    deposit: { tx: txId('late'), amount: 30_000_000n as Amount },
    settlement: { tx: null, amount: null, fee: null },
  } as const
  const paid = { tx: txId('late'), amount: 30_000_000n as Amount, blockAt: at(2 * 24 * 60 + 600) }
  await books.receive(payment(paid), webhook(claimHistory), claim(claimHistory))
  await books.settle()
  /** Every value arrives as the text that psql would print. */
  const types: CustomTypesConfig = { getTypeParser: () => (text: string) => text }
  accountant = new Client({
    connectionString: books.url,
    types,
    options: '-c timezone=UTC -c role=depositd_accountant',
  })
  await accountant.connect()
})
afterAll(async () => {
  await accountant.end()
  await books[Symbol.asyncDispose]()
})

/** `vitest run test/docs/periods.test.ts --update` writes the output into the page. */
test('every example of the month-end prints what the page shows, for an accountant', async () => {
  let answered = page
  for (const { whole, sql } of examples) {
    const output = psqlTable(await accountant.query<(string | null)[]>({ text: sql, rowMode: 'array' }))
    expect(output).not.toContain('(0 rows)')
    answered = answered.replace(whole, () => `\`\`\`sql\n${sql}\`\`\`\n\n\`\`\`text\n${output}\n\`\`\``)
  }
  await expect(answered).toMatchFileSnapshot(join(root, 'docs/periods.md'))
  expect(examples.length).toBeGreaterThanOrEqual(5)
})

test('what is frozen has the hash that the page makes of the entries', async () => {
  const [example] = examples
  const { rows } = await accountant.query<{ same: string }>(example?.sql ?? '')
  expect(rows).toEqual([{ same: 't' }])
})

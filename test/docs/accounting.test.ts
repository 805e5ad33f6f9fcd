import { join } from 'node:path'
import { Readable } from 'node:stream'
import { Client, type CustomTypesConfig } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AssetKey } from '../../src/core/asset.ts'
import { accounts } from '../../src/core/chart.ts'
import type { Owner } from '../../src/core/evidence.ts'
import { importPrices } from '../../src/jobs/books/import-prices.ts'
import { valueBooks } from '../../src/jobs/books/value-books.ts'
import { keepValuation } from '../../src/store/ledger/prices.ts'
import type { Books } from '../support/books.ts'
import { openExampleBooks } from '../support/example-books.ts'
import { tableRows } from '../support/markdown.ts'
import { psqlTable } from '../support/psql-table.ts'
import { readText, root } from './pages.ts'

const page = readText('docs/accounting.md')
const statements = [...page.matchAll(/^```sql\n([\s\S]*?)^```\n(?:\n```text\n([\s\S]*?)^```$)?/gm)].map(
  ([whole, sql = '', output]) => ({ whole, sql, output }),
)
const examples = statements.filter(({ output }) => output !== undefined)
/** The file of prices that the page shows; values follow from it. */
const [, prices = ''] = /^```csv\n([\s\S]*?)^```$/m.exec(page) ?? []
const login = statements.find(({ output }) => output === undefined)?.sql ?? ''

let books: Books
let owner: Client
let erin: Client

beforeAll(async () => {
  books = await openExampleBooks()
  await keepValuation(books.db, { currency: 'EUR', maxAgeMs: 24 * 3_600_000 })
  await importPrices(books.db, {
    name: 'docs/accounting.md',
    lines: Readable.from(prices.split('\n')),
    isDryRun: false,
    now: new Date('2026-02-01'),
    onProgress: () => undefined,
  })
  expect(await valueBooks(books.db)).toMatchObject({ lastJournal: 17n, upTo: 17n })
  owner = await connect(books.url)
  await owner.query(login)
  const url = new URL(books.url)
  url.username = 'erin'
  url.password = 'choose another one'
  erin = await connect(url.href)
})

afterAll(async () => {
  await erin.end()
  await owner.query('drop role erin')
  await owner.end()
  await books[Symbol.asyncDispose]()
})

/** Every value arrives as the text that psql would print. */
const asText: CustomTypesConfig = { getTypeParser: () => (text: string) => text }

async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url, types: asText, options: '-c timezone=UTC' })
  await client.connect()
  return client
}

async function answer(sql: string): Promise<string> {
  return psqlTable(await erin.query<(string | null)[]>({ text: sql, rowMode: 'array' }))
}

/** `vitest run test/docs/accounting.test.ts -u` writes the output into the page. */
test('every example prints what the page shows, for the login that the page makes', async () => {
  let answered = page
  for (const { whole, sql } of examples) {
    const output = await answer(sql)
    answered = answered.replace(whole, () => `\`\`\`sql\n${sql}\`\`\`\n\n\`\`\`text\n${output}\n\`\`\``)
  }
  await expect(answered).toMatchFileSnapshot(join(root, 'docs/accounting.md'))
})

test('there are at least five examples, and none is empty', async () => {
  expect(examples.length).toBeGreaterThanOrEqual(5)
  for (const { sql } of examples) expect(await answer(sql)).not.toContain('(0 rows)')
})

test('the login reads and can do nothing else', async () => {
  await expect(erin.query("update accounting.journal set kind = 'deposit'")).rejects.toThrow(
    'permission denied',
  )
  await expect(erin.query('select * from inbox')).rejects.toThrow('permission denied')
})

test('the chart lists the accounts that the program books on, and no other', () => {
  const named: Owner = { kind: '{kind}' as Owner['kind'], id: '{id}' }
  const booked = [
    accounts.inTransit('{network}'),
    accounts.forwarded('{network}', '{recipient}'),
    accounts.stableWallet('{id}'),
    accounts.serviceFees,
    accounts.tolerance,
    accounts.writeOff,
    accounts.receivable,
    accounts.deposits(named),
    accounts.suspense,
    accounts.opening,
    accounts.trading('{asset}' as AssetKey),
  ]
  expect(booked).toHaveLength(Object.keys(accounts).length)
  const listed = tableRows(page).map(({ name }) => name)
  expect(listed.filter((name) => /^(assets|equity|expenses|income|liabilities|trading):/.test(name))).toEqual(
    booked,
  )
})

test('the page lists every view, and no other', async () => {
  const { rows } = await owner.query<{ name: string }>(
    `select 'accounting.' || viewname as name from pg_views where schemaname = 'accounting' order by 1`,
  )
  const listed = tableRows(page).map(({ name }) => name)
  expect(listed.filter((name) => name.startsWith('accounting.')).toSorted()).toEqual(
    rows.map(({ name }) => name),
  )
})

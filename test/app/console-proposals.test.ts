import { afterAll, beforeAll, expect, test } from 'vitest'
import { serveBooks } from '../support/books-console.ts'
import { runCommand } from '../support/command.ts'
import { faultsOfPage, pageAt } from '../support/console-reader.ts'
import { delivery, payment, txId } from '../support/evidence.ts'
import { openProposing, type Proposing, undelivered, unkeyed } from '../support/proposing.ts'

let books: Proposing
let url: string
const stack = new AsyncDisposableStack()

beforeAll(async () => {
  books = stack.use(await openProposing())
  url = await serveBooks(books, stack)
})
afterAll(() => stack.disposeAsync())

test('proposed matches have the reasons of the command line, and the command that accepts them', async () => {
  const before = await pageAt(`${url}/proposals`)
  expect(before.text).toContain('No proposals: each final transfer')
  const replaced = { deposit: { tx: txId('replaced') }, serviceId: 'dep_0' as never }
  await books.hold(unkeyed(replaced), payment({ tx: txId('speedier') }))
  await books.hold(undelivered(), payment(), delivery())
  await books.run()
  const { status, text } = await pageAt(`${url}/proposals`)
  expect([status, faultsOfPage(text), faultsOfPage(before.text)]).toEqual([200, [], []])
  const { out } = await runCommand('deposits proposals', { DATABASE_URL: books.url })
  const cells = out
    .split('\n')
    .slice(1)
    .flatMap((line) => line.trim().split(/ {2,}/))
  expect(cells).toHaveLength(2 * 8 + 1)
  expect(cells.filter((cell) => !text.includes(cell))).toEqual([])
  expect(text).toContain('not transaction (the service names')
  expect(text).toContain('bin/depositd deposits match DEPOSIT --transfer TRANSFER --reason TEXT')
  for (const path of ['/deposits', '/mismatches'])
    expect((await pageAt(url + path)).text).toContain('href="/proposals"')
})

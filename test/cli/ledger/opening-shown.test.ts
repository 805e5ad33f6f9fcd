import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AccountId } from '../../../src/core/chart.ts'
import type { Amount } from '../../../src/core/money.ts'
import { requestDecision } from '../../../src/jobs/people/decide.ts'
import { journalBook } from '../../../src/jobs/people/decided-journals.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { serveBooks } from '../../support/books-console.ts'
import { runCommand } from '../../support/command.ts'
import { consoleClient } from '../../support/console-client.ts'
import { faultsOfPage } from '../../support/console-reader.ts'
import { at, usdcOnBase } from '../../support/evidence.ts'
import { judgingEnvironment } from '../../support/judging-environment.ts'
import { addPeople, decisionDeps, signers, signingKeys } from '../../support/people.ts'

let books: Books
const stack = new AsyncDisposableStack()
const rows = Array.from({ length: 50 }, (_, place) => `liabilities:deposits:channel:c${place},base/USDC,-1`)
const file = ['account,asset,balance', ...rows].join('\n')
let id: bigint

const line = (credit: string, amount: bigint, debit = 'equity:opening') => ({
  debit: debit as AccountId,
  credit: credit as AccountId,
  asset: usdcOnBase,
  amount: amount as Amount,
})

/** A decision to open the books with fifty accounts that waits; what it books is given, not proved. */
beforeAll(async () => {
  books = stack.use(await openBooks())
  await addPeople(books.owner)
  const deps = decisionDeps(books.owner)
  const transfers = [
    ...rows.map((row) => line(row.split(',')[0] ?? '', 1_000_000n)),
    line('liabilities:deposits:channel:c0', 250_000n, 'liabilities:suspense'),
  ]
  const journal = { key: 'opening/1', eventAt: at(0), period: '2026-01', depositId: null, transfers }
  const procedures = {
    ...deps.procedures,
    opening: async () => ({
      people: 2 as const,
      grounds: async () => ({ evidence: null, books: [journalBook(journal)] }),
      carryOut: () => Promise.reject(new Error('it waits')),
    }),
  }
  const change = { at: at(0).toISOString(), file, toSuspense: true, reason: 'the books begin' }
  const decided = await requestDecision({ ...deps, procedures }, { kind: 'opening', change }, signers.erin)
  id = decided.id
})
afterAll(() => stack.disposeAsync())

const sums = [
  'accounts: 50',
  'USDC on base: debit 0, credit 50.000000, in 50 lines',
  'differences: USDC on base: debit 0, credit 0.250000, in 1 line',
]

test('the command line shows sums, the hash of the file and the first lines, and all of it if asked', async () => {
  const environment = { ...judgingEnvironment(books.url), ...signingKeys.max }
  const { out } = await runCommand(`decisions approve ${id}`, environment)
  for (const said of [...sums, 'reason: the books begin', '51 lines, SHA-256 ']) expect(out).toContain(said)
  expect(out).toContain('and 31 more lines; decisions approve --whole shows them\n')
  expect(out).not.toContain('channel:c20')
  const whole = (await runCommand(`decisions approve ${id} --whole`, environment)).out
  expect(whole).toContain('channel:c49,base/USDC,-1')
  expect(whole.match(/equity:opening/g)).toHaveLength(50)
})

test('the console shows the same, and leads to the text that is signed', async () => {
  const { got, signedIn } = consoleClient(await serveBooks(books, stack), books)
  const { text } = await got(`/decisions/${id}`, await signedIn('max', 'approver'))
  expect(faultsOfPage(text)).toEqual([])
  const words = text.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ')
  for (const said of ['accounts 50 ', 'credit 50.000000, in 50 lines', '51 lines, SHA-256 '])
    expect(words).toContain(said)
  expect(words).toContain('the first 20 of 51 lines')
  expect(text).not.toContain('channel:c20')
  const whole = await got(`/decisions/${id}/text`)
  expect(whole.headers.get('content-disposition')).toBe(`attachment; filename=decision-${id}.txt`)
  expect((JSON.parse(whole.text) as { change: { file: string } }).change.file).toBe(file)
})

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatMinor, toDecimal, toMinor } from '../../../src/core/value.ts'
import { beancountAccount, hledgerAccount } from '../../../src/ledger/export/plain-text.ts'
import type { Books } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { exportOf } from '../../support/exported.ts'
import {
  beancountInstalled,
  beancountValues,
  hledgerInstalled,
  hledgerValues,
} from '../../support/plain-text-accounting.ts'
import { givePrices, openValuedBooks } from '../../support/valued-books.ts'

let books: Books

beforeAll(async () => {
  books = await openValuedBooks()
  await givePrices(books, ['base/USDC,2026-01-03T12:00:00Z,0.91337'])
})
afterAll(() => books[Symbol.asyncDispose]())

const exported = (options: string) => exportOf(books.url, options)

/** What the report of the end of a day says of each account, in cents. */
async function valued(day: string): Promise<{ account: string; value: string }[]> {
  const { out } = await runCommand(`ledger balances --currency --json --as-of ${day}`, {
    DATABASE_URL: books.url,
  })
  return (JSON.parse(out) as { valued_totals: { account: string; value: string }[] }).valued_totals
}

describe.skipIf(!hledgerInstalled())('hledger with prices', () => {
  test.each([
    ['2026-01-02', '2026-01-03'],
    ['2026-01-03', '2026-01-04'],
  ])('values the balances of %s as the report does, to the cent', async (day, next) => {
    const { file, manifest, text } = await exported('--format hledger')
    expect(manifest.currency).toBe('EUR')
    expect(text).toContain('\nP 2026-01-03 "USDC.BASE.C68E3D3" 0.91337 "EUR"\n')
    const expected = (await valued(day)).map(({ account, value }): [string, string] => [
      hledgerAccount(account),
      `${value} EUR`,
    ])
    expect(expected.length).toBeGreaterThan(6)
    expect(hledgerValues(file, next)).toEqual(new Map(expected))
  })

  test('a part by time has the prices of that time', async () => {
    const { text } = await exported('--format hledger --to 2026-01-02')
    expect(text).toContain('\nP 2026-01-02 ')
    expect(text).not.toContain('\nP 2026-01-03 ')
  })
})

describe.skipIf(!beancountInstalled())('Beancount with prices', () => {
  test('values the balances as the report does, to the cent', async () => {
    const { file } = await exported('--format beancount')
    const rounded = [...beancountValues(file, '2026-01-04', '2026-01-03')]
      .map(([account, value]): [string, string] => [
        account,
        formatMinor(toMinor(toDecimal(value), 'EUR'), 'EUR'),
      ])
      .filter(([, value]) => value !== '0.00')
    const expected = (await valued('2026-01-03')).map(({ account, value }): [string, string] => [
      beancountAccount(account),
      value,
    ])
    expect(new Map(rounded)).toEqual(new Map(expected))
  })
})

type ImportedLine = { journal: string; cents: bigint }

const importedLines: Record<string, (cells: readonly string[]) => ImportedLine> = {
  xero: (cells) => ({ journal: `${cells[0]} ${cells[1]}`, cents: centsOf(cells[5]) }),
  quickbooks: (cells) => ({
    journal: `${cells[0]} ${cells[1]}`,
    cents: centsOf(cells[3] || '0.00') - centsOf(cells[4] || '0.00'),
  }),
}

const centsOf = (text = '') => {
  expect(text).toMatch(/^-?\d+\.\d\d$/)
  return BigInt(text.replace('.', ''))
}

test.each(['xero', 'quickbooks'])('in the file for %s, every journal sums to zero', async (format) => {
  const { text, manifest } = await exported(`--format ${format}`)
  expect(manifest.currency).toBe('EUR')
  const lines = text.trimEnd().split('\n').slice(1)
  const read = lines.map((line) => importedLines[format]?.(line.split(',')))
  const journals = Map.groupBy(read, (line) => line?.journal)
  expect(journals.size).toBe(Number(manifest.journals))
  for (const own of journals.values())
    expect(own.reduce((sum, line) => sum + (line?.cents ?? 0n), 0n)).toBe(0n)
})

test('the totals are those of the trial balance in the currency, with gains and the revaluation of a month', async () => {
  await givePrices(
    books,
    ['base/USDC', 'base/USDT', 'arbitrum/USDC', 'stable-wallet/USDC'].map(
      (asset) => `${asset},2026-01-31,0.95`,
    ),
  )
  const depositd = (line: string) => runCommand(line, { DATABASE_URL: books.url })
  const closed = await depositd('ledger close 2026-01 --break-glass erin,max --force --reason test')
  expect(closed.out).toContain('unrealised gains at its end: -0.02 EUR')
  const { text } = await exported('--format quickbooks --period 2026-01')
  const totals = new Map<string, bigint>()
  for (const [, , account = '', debit, credit] of text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split(',')))
    totals.set(account, (totals.get(account) ?? 0n) + centsOf(debit || '0.00') - centsOf(credit || '0.00'))
  const report = JSON.parse((await depositd('ledger trial-balance --valued --period 2026-01 --json')).out)
  const expected = new Map<string, bigint>()
  for (const { account, value } of report.items as { account: string; value: string }[])
    expected.set(account, (expected.get(account) ?? 0n) + centsOf(value))
  for (const [account, cents] of totals) if (cents === 0n) totals.delete(account)
  expect(totals).toEqual(expected)
  expect([...totals.keys()]).toContain('income:gains:unrealised')
})

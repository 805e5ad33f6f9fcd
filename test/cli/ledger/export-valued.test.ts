import { writeFileSync } from 'node:fs'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatMinor, toDecimal, toMinor } from '../../../src/core/value.ts'
import { beancountAccount, hledgerAccount } from '../../../src/ledger/export/plain-text.ts'
import { keepValuation } from '../../../src/store/ledger/prices.ts'
import type { Books } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { basis, openDemonstrationMonth, treasury } from '../../support/demonstration-month.ts'
import { exportOf } from '../../support/exported.ts'
import {
  beancountCents,
  beancountInstalled,
  hledgerCosts,
  hledgerInstalled,
  runProgram,
} from '../../support/plain-text-accounting.ts'

let books: Books

beforeAll(async () => {
  books = await openDemonstrationMonth()
  const closed = await depositd('ledger close 2026-01 --break-glass erin,max --force --reason test')
  expect(closed.status).toBe(0)
})
afterAll(() => books[Symbol.asyncDispose]())

const depositd = (line: string) => runCommand(line, { DATABASE_URL: books.url })

/** Of each account in the trial balance, by the name in another program; without those of zero. */
async function carried(nameOf: (account: string) => string, options = ''): Promise<Map<string, string>> {
  const { out } = await depositd(`ledger trial-balance --valued --json${options}`)
  const { items } = JSON.parse(out) as { items: { account: string; value: string }[] }
  const totals = Map.groupBy(items, ({ account }) => nameOf(account))
  return new Map(
    [...totals]
      .map(([account, some]): [string, bigint] => [
        account,
        some.reduce((sum, { value }) => sum + toMinor(toDecimal(value), 'EUR'), 0n),
      ])
      .filter(([, cents]) => cents !== 0n)
      .map(([account, cents]): [string, string] => [account, formatMinor(cents, 'EUR')]),
  )
}

const valued = (options: string) => exportOf(books.url, `--valued --format ${options}`)

/** The first gain of the file is another. */
const otherGain = (text: string) => text.replace(/(gains:realised +"?)(-?\d+)\./i, '$17$2.')

describe.skipIf(!hledgerInstalled())('hledger with values', () => {
  test('has the trial balance in the currency at cost, and refuses another gain', async () => {
    const { file, text } = await valued('hledger --period 2026-01')
    expect(runProgram('hledger', '-f', file, 'check', '--strict')).toEqual({ status: 0, said: '' })
    const costs = hledgerCosts(file, 'EUR')
    expect(costs).toEqual(await carried(hledgerAccount, ' --period 2026-01'))
    expect(costs.get('income:gains:realised')).toBeDefined()
    writeFileSync(file, otherGain(text))
    expect(runProgram('hledger', '-f', file, 'check').said).toContain('could not balance')
  })
})

const costs = `select account, str(number(only('EUR', sum(cost(position))))) group by account`
const computed = `select any_meta('journal') as booked, str(sum(number))
  where account = 'Income:Gains:Realised' and any_meta('journal') ~ '^[0-9]' group by booked`

describe.skipIf(!beancountInstalled())('Beancount with values', () => {
  test('has the trial balance in the currency at cost, and refuses another gain', async () => {
    const { file, text } = await valued('beancount')
    expect(runProgram('bean-check', file)).toEqual({ status: 0, said: '' })
    expect(beancountCents(file, costs)).toEqual(await carried(beancountAccount))
    writeFileSync(file, otherGain(text))
    expect(runProgram('bean-check', file).said).toContain('does not balance')
  })

  test('computes the gains of own funds from its own lots, to the cent', async () => {
    const { file, text } = await valued('beancount')
    expect(text.match(/ \{\} @ [\d.]+ EUR\n/g)).toHaveLength(2)
    expect(text.match(/ {2}Income:Gains:Realised\n/g)).toHaveLength(2)
    expect(text.match(/open .* "FIFO"/g)).toEqual([`open ${beancountAccount(treasury)} "FIFO"`])
    const { rows } = await sql<{ id: string; gain: string }>`
      select journal_id::text as id, (sum(value))::text as gain from accounting.valued_entries
      where account = 'income:gains:realised' group by journal_id`.execute(books.db)
    const booked = new Map(rows.map(({ id, gain }) => [id, gain]))
    expect(beancountCents(file, computed)).toEqual(booked)
    writeFileSync(file, text.replace('"FIFO"', '"LIFO"'))
    expect(runProgram('bean-check', file)).toEqual({ status: 0, said: '' })
    expect(beancountCents(file, computed)).not.toEqual(booked)
  })

  test('takes the costs of the file, if it lacks journals or the cost basis was changed', async () => {
    const part = await valued('beancount --period 2026-01')
    expect(part.text).not.toContain('"FIFO"')
    expect(runProgram('bean-check', part.file)).toEqual({ status: 0, said: '' })
    expect(beancountCents(part.file, costs)).toEqual(await carried(beancountAccount, ' --period 2026-01'))
    await keepValuation(books.db, { ...basis, method: 'average' })
    const { text } = await valued('beancount')
    expect(text).not.toContain('"FIFO"')
    await keepValuation(books.db, basis)
  })
})

test('other formats have no such values', async () => {
  const { status, err } = await depositd('ledger export --format csv --valued --out /nowhere')
  expect({ status, err }).toEqual({
    status: 2,
    err: 'depositd: --valued: the format csv has no values; use --format hledger or beancount, or omit --valued\n',
  })
})

import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { formatMinor, toDecimal, toMinor } from '../../../src/core/value.ts'
import { beancountAccount, hledgerAccount } from '../../../src/ledger/export/plain-text.ts'
import type { Books } from '../../support/books.ts'
import { runCommand } from '../../support/command.ts'
import { openDemonstrationMonth } from '../../support/demonstration-month.ts'
import { exportOf } from '../../support/exported.ts'
import { beancountInstalled, hledgerInstalled, runProgram } from '../../support/plain-text-accounting.ts'

let books: Books

beforeAll(async () => {
  books = await openDemonstrationMonth()
  const closed = await depositd('ledger close 2026-01 --break-glass erin,max --force --reason test')
  expect(closed.status).toBe(0)
})
afterAll(() => books[Symbol.asyncDispose]())

const depositd = (line: string) => runCommand(line, { DATABASE_URL: books.url })

/** Of each account in the trial balance of January, in cents, by the name in another program. */
async function carried(nameOf: (account: string) => string): Promise<Map<string, string>> {
  const { out } = await depositd('ledger trial-balance --valued --period 2026-01 --json')
  const { items } = JSON.parse(out) as { items: { account: string; value: string }[] }
  const totals = Map.groupBy(items, ({ account }) => nameOf(account))
  return new Map(
    [...totals].map(([account, some]) => [
      account,
      formatMinor(
        some.reduce((sum, { value }) => sum + toMinor(toDecimal(value), 'EUR'), 0n),
        'EUR',
      ),
    ]),
  )
}

/** The second cell of each line but the first, by its first. */
function secondCells(csv: string): Map<string, string> {
  const lines = csv.trimEnd().split('\n').slice(1)
  return new Map(
    lines.map((line): [string, string] => {
      const [account = '', value = ''] = line.split(',').map((cell) => cell.replaceAll('"', '').trim())
      const exact = /^(Decimal\(')?(.*?)('\))?$/.exec(value)?.[2] ?? ''
      return [account, exact.includes('E') ? '0.00' : formatMinor(toMinor(toDecimal(exact), 'EUR'), 'EUR')]
    }),
  )
}

const withoutZeros = (values: Map<string, string>) =>
  new Map([...values].filter(([, value]) => value !== '0.00'))

const valued = (format: string) => exportOf(books.url, `--format ${format} --valued --period 2026-01`)

/** The first gain of the file is another. */
const otherGain = (text: string) => text.replace(/(gains:realised +"?)(-?\d+)\./i, '$17$2.')

describe.skipIf(!hledgerInstalled())('hledger with values', () => {
  test('has the trial balance in the currency at cost, and refuses another gain', async () => {
    const { file, text } = await valued('hledger')
    expect(runProgram('hledger', '-f', file, 'check', '--strict')).toEqual({ status: 0, said: '' })
    const words = 'balance --flat --no-total -B -O csv'.split(' ')
    const { said } = runProgram('hledger', '-f', file, ...words)
    const costs = secondCells(said.replaceAll(' EUR', ''))
    expect(withoutZeros(costs)).toEqual(withoutZeros(await carried(hledgerAccount)))
    expect(costs.get('income:gains:realised')).toBeDefined()
    writeFileSync(file, otherGain(text))
    expect(runProgram('hledger', '-f', file, 'check').said).toContain('could not balance')
  })
})

describe.skipIf(!beancountInstalled())('Beancount with values', () => {
  test('has the trial balance in the currency at cost, and refuses another gain', async () => {
    const { file, text } = await valued('beancount')
    expect(runProgram('bean-check', file)).toEqual({ status: 0, said: '' })
    const query = `select account, str(number(only('EUR', sum(cost(position))))) group by account`
    const { said } = runProgram('bean-query', '-f', 'csv', file, query)
    expect(withoutZeros(secondCells(said))).toEqual(withoutZeros(await carried(beancountAccount)))
    writeFileSync(file, otherGain(text))
    expect(runProgram('bean-check', file).said).toContain('does not balance')
  })
})

test('other formats have no such values', async () => {
  const { status, err } = await depositd('ledger export --format csv --valued --out /nowhere')
  expect({ status, err }).toEqual({
    status: 2,
    err: 'depositd: --valued: the format csv has no values; use --format hledger or beancount, or omit --valued\n',
  })
})

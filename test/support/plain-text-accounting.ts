import { spawnSync } from 'node:child_process'
import { formatMinor, toDecimal, toMinor } from '../../src/core/value.ts'
import { isInstalled } from './programs-needed.ts'

export const hledgerInstalled = (): boolean => isInstalled('hledger')

export const beancountInstalled = (): boolean => isInstalled('bean-check')

/** Runs a program to its end, without any language set, and gives its exit status with all that it said. */
export function runProgram(
  program: string,
  ...words: readonly string[]
): { status: number | null; said: string } {
  const environment = { PATH: process.env.PATH, HOME: process.env.HOME, LC_ALL: 'C' }
  const { status, stdout, stderr } = spawnSync(program, words, {
    encoding: 'utf8',
    env: environment,
    maxBuffer: 64 * 1024 * 1024,
  })
  return { status, said: stdout + stderr }
}

/** Balances other than zero, as `ACCOUNT COMMODITY` and a decimal without needless zeros. */
export type ShownBalances = ReadonlyMap<string, string>

/** What hledger makes of a journal; of what happened before a day, where one is given. */
export function hledgerBalances(file: string, beforeDay?: string): ShownBalances {
  const { said } = runProgram(
    'hledger',
    '-f',
    file,
    ...'balance --flat --no-total --layout bare -O csv'.split(' '),
    ...(beforeDay === undefined ? [] : ['-e', beforeDay]),
  )
  return new Map(
    linesOf(said)
      .slice(1)
      .map((line): [string, string] => {
        const [account = '', commodity = '', balance = ''] = line.split(',').map(bare)
        return [`${account} ${commodity}`, shortest(balance)]
      })
      .filter(([, balance]) => balance !== '0'),
  )
}

/** What hledger values the balances before a day at, by account, without those that are worth nothing. */
export function hledgerValues(file: string, beforeDay: string): ReadonlyMap<string, string> {
  const words = 'balance --flat --no-total --layout bare -V -O csv -e'.split(' ')
  const { said } = runProgram('hledger', '-f', file, ...words, beforeDay)
  return new Map(
    linesOf(said)
      .slice(1)
      .map((line): [string, string] => {
        const [account = '', commodity = '', balance = ''] = line.split(',').map(bare)
        return [account, `${balance} ${commodity}`]
      }),
  )
}

/** What hledger has each account at, at cost in one currency; without those of zero. */
export function hledgerCosts(file: string, currency: string): ReadonlyMap<string, string> {
  const words = 'balance --flat --no-total --layout bare -B -O csv'.split(' ')
  const { said } = runProgram('hledger', '-f', file, ...words)
  return new Map(
    linesOf(said)
      .slice(1)
      .map((line) => line.split(',').map(bare))
      .filter(([, commodity]) => commodity === currency)
      .map(([account = '', , balance = '']): [string, string] => [account, balance])
      .filter(([, balance]) => balance !== '0' && balance !== '0.00'),
  )
}

/** What Beancount values the balances before a day at in euros, by account and exactly. */
export function beancountValues(
  file: string,
  beforeDay: string,
  priceDay: string,
): ReadonlyMap<string, string> {
  const query = `select account, str(number(only('EUR', convert(sum(position), 'EUR', ${priceDay})))) where date < ${beforeDay} group by account`
  const { said } = runProgram('bean-query', '-f', 'csv', file, query)
  return new Map(
    linesOf(said)
      .slice(1)
      .map((line): [string, string] => {
        const [account = '', value = ''] = line.split(',').map(bare)
        return [account, value]
      }),
  )
}

/** The first cell of each row of a query with its second one, an amount, in cents; without those of zero. */
export function beancountCents(file: string, query: string): ReadonlyMap<string, string> {
  const { said } = runProgram('bean-query', '-f', 'csv', file, query)
  return new Map(
    linesOf(said)
      .slice(1)
      .map((line): [string, string] => {
        const [name = '', value = ''] = line.split(',').map(bare)
        return [name, formatMinor(toMinor(toDecimal(shortest(value)), 'EUR'), 'EUR')]
      })
      .filter(([, value]) => value !== '0.00'),
  )
}

/** What Beancount makes of a file, by its own names. */
export function beancountBalances(file: string): ShownBalances {
  const { said } = runProgram(
    'bean-query',
    '-f',
    'csv',
    file,
    'select account, currency, str(sum(number)) group by account, currency',
  )
  return new Map(
    linesOf(said)
      .slice(1)
      .map((line): [string, string] => {
        const [account = '', commodity = '', balance = ''] = line.split(',').map(bare)
        return [`${account} ${commodity}`, shortest(balance)]
      })
      .filter(([, balance]) => balance !== '0'),
  )
}

function linesOf(said: string): string[] {
  return said.split('\n').filter((line) => line.trim() !== '')
}

function bare(cell: string): string {
  return cell
    .trim()
    .replace(/^"(.*)"$/, '$1')
    .replace(/^Decimal\('(.*)'\)$/, '$1')
}

/** One spelling for each number: `1.500000` and `1.5` are the same; so are `0E-6` and `0`. */
export function shortest(text: string): string {
  const [, digits = text, exponent = '0'] = /^(.*)E([+-]\d+)$/.exec(text) ?? []
  const negative = digits.startsWith('-')
  const [whole = '', fraction = ''] = digits.replace('-', '').split('.')
  const all = whole + fraction
  const point = whole.length + Number(exponent)
  const padded = point <= 0 ? all.padStart(all.length - point + 1, '0') : all.padEnd(point, '0')
  const at = Math.max(point, 1)
  const plain = `${padded.slice(0, at).replace(/^0+(?=\d)/, '')}.${padded.slice(at)}`.replace(/\.?0*$/, '')
  return plain === '0' || plain === '' ? '0' : `${negative ? '-' : ''}${plain}`
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type {
  ExportedAsset,
  ExportedJournal,
  ExportedValue,
} from '../../../src/ledger/export/exported-journal.ts'
import { formatOf } from '../../../src/ledger/export/formats.ts'

const labels: Record<string, { code: string; name: string | null }> = {
  'assets:in_transit:base': { code: '1100', name: 'Crypto:In transit' },
  'assets:forwarded:arbitrum:0xff': { code: '1110', name: null },
  'liabilities:deposits:channel:shop': { code: '2000', name: 'Owed to customers' },
  'trading:base/USDC': { code: '9000', name: null },
  'trading:arbitrum/USDC': { code: '9001', name: null },
  'expenses:fees:service': { code: '6000', name: null },
  'expenses:rounding': { code: '6900', name: null },
}
const chart = (account: string) => labels[account] ?? { code: null, name: null }
const euro = { chart, currency: 'EUR' }

const onBase: ExportedAsset = { key: 'base/0xb1', symbol: 'USDC', decimals: 6, commodity: 'USDC.BASE' }
const onArbitrum = { ...onBase, key: 'arbitrum/0xa1', commodity: 'USDC.ARBITRUM' }
const paid = { asset: onBase, amount: 100_000_000n }

const valueOf = (account: string, units: bigint, value: bigint): ExportedValue => {
  const asset = units === 0n ? null : account.endsWith('arbitrum/USDC') ? onArbitrum : onBase
  return { account, asset, units, value, price: asset === null ? null : '0.9187' }
}
const worth = (account: string, sign: 1n | -1n) => valueOf(account, sign * 100_000_000n, sign * 9187n)
const onOther = (account: string, units: bigint, value: bigint): ExportedValue => {
  return { account, asset: onArbitrum, units, value, price: '0.5' }
}

const deposit: ExportedJournal = {
  id: 12n,
  postingKey: 'deposit/base/0xab/0#1',
  kind: 'deposit',
  depositId: 3n,
  reverses: null,
  reason: null,
  period: '2026-01',
  eventAt: '2026-01-31T23:59:59.000001Z',
  recordedAt: '2026-02-03T08:00:00.123456Z',
  transfers: [
    { leg: 1, debit: 'assets:in_transit:base', credit: 'liabilities:deposits:channel:shop', ...paid },
  ],
  values: [worth('assets:in_transit:base', 1n), worth('liabilities:deposits:channel:shop', -1n)],
  lots: null,
}

/** The values of a line that rounds to nothing is left out; what is left is a line of rounding. */
const settlement: ExportedJournal = {
  ...deposit,
  id: 13n,
  postingKey: 'settlement/base/0xab/0#1',
  kind: 'settlement',
  transfers: [
    { leg: 1, debit: 'trading:base/USDC', credit: 'assets:in_transit:base', ...paid },
    {
      leg: 2,
      debit: 'assets:forwarded:arbitrum:0xff',
      credit: 'trading:arbitrum/USDC',
      asset: onArbitrum,
      amount: 10_010_000n,
    },
    {
      leg: 3,
      debit: 'expenses:fees:service',
      credit: 'trading:arbitrum/USDC',
      asset: onArbitrum,
      amount: 10_000n,
    },
  ],
  values: [
    worth('trading:base/USDC', 1n),
    worth('assets:in_transit:base', -1n),
    onOther('assets:forwarded:arbitrum:0xff', 10_010_000n, 500n),
    onOther('trading:arbitrum/USDC', -10_020_000n, -501n),
    onOther('expenses:fees:service', 10_000n, 0n),
    valueOf('expenses:rounding', 0n, 1n),
  ],
}

const late: ExportedJournal = {
  ...deposit,
  id: 14n,
  kind: 'reversal',
  reverses: 12n,
  reason: '=1+1,\nagain',
  period: '2026-02',
  transfers: [
    { leg: 1, debit: 'liabilities:deposits:channel:shop', credit: 'assets:in_transit:base', ...paid },
  ],
  values: [worth('liabilities:deposits:channel:shop', 1n), worth('assets:in_transit:base', -1n)],
}

/** The files are written by hand, by what Xero and QuickBooks document. */
test.each(['xero', 'quickbooks'] as const)('journals for %s are the file written by hand', (name) => {
  const format = formatOf(name, euro)
  const text = format.head + [deposit, settlement, late].flatMap(format.journal).join('')
  expect(text).toBe(readFileSync(join(import.meta.dirname, 'fixtures', format.file), 'utf8'))
})

test.each([
  ['JPY', '9187'],
  ['KWD', '9.187'],
])('amounts in %s have its decimal places', (currency, amount) => {
  const [text = ''] = formatOf('quickbooks', { chart, currency }).journal(deposit)
  expect(
    text
      .split('\n')
      .slice(0, 2)
      .map((line) => line.split(',').slice(3, 5)),
  ).toEqual([
    [amount, ''],
    ['', amount],
  ])
})

test('gains and revaluations say what they are, and a revaluation has a number of its own', () => {
  const revaluation: ExportedJournal = {
    ...deposit,
    id: 3n,
    kind: 'revaluation',
    postingKey: 'revaluation of 2026-01',
    transfers: [],
    values: [
      { ...worth('assets:in_transit:base', 1n), units: 0n, value: 12n, price: '0.95' },
      valueOf('income:gains:unrealised', 0n, -12n),
    ],
  }
  expect(formatOf('quickbooks', euro).journal(revaluation).join('')).toMatchInlineSnapshot(`
    "R3,2026-01-31,Crypto:In transit,0.12,,revaluation of 2026-01: USDC.BASE at 0.95 EUR,,EUR,,
    R3,2026-01-31,income:gains:unrealised,,0.12,revaluation of 2026-01: gain or loss,,EUR,,
    "
  `)
})

function cellsOf(texts: readonly string[]): string[][] {
  return texts.flatMap((text) => text.trimEnd().split('\n')).map((line) => line.split(','))
}

const centsOf = (text = '') => BigInt(text.replace('.', ''))
const sumOf = (cents: readonly bigint[]) => cents.reduce((sum, one) => sum + one, 0n)

/** One account and many: of these, every other one is debited. */
const longJournal = (count: number): ExportedJournal => {
  const sides = Array.from({ length: count }, (_, leg) => {
    const cents = (BigInt(leg + 1) * 7_919_003n) % 1_000_003n
    return valueOf(`assets:bank:${leg}`, 1n, leg % 2 === 0 ? cents : -cents)
  })
  const rest = valueOf('assets:bank:main', 1n, -sumOf(sides.map(({ value }) => value)))
  return { ...deposit, values: [...sides, rest] }
}

const coded = { chart: () => ({ code: '1', name: null }), currency: 'EUR' }

test.each([
  [297, 1],
  [299, 2],
  [700, 3],
  [900, 4],
])(
  'a journal of %i accounts is divided into %i narrations that each fit and sum to zero',
  (count, divided) => {
    const journal = longJournal(count)
    const parts = formatOf('xero', coded)
      .journal(journal)
      .map((part) => cellsOf([part]))
    const endings = parts.map((_part, place) => (divided === 1 ? '' : ` (${place + 1} of ${divided})`))
    expect(parts.map((part) => [...new Set(part.map(([narration]) => narration))])).toEqual(
      endings.map((ending) => [`12 deposit${ending}`]),
    )
    expect(parts).toHaveLength(divided)
    for (const part of parts) {
      expect(part.length).toBeLessThanOrEqual(299)
      expect(sumOf(part.map((cells) => centsOf(cells[5])))).toBe(0n)
    }
    const whole = cellsOf(formatOf('quickbooks', coded).journal(journal))
    const debits = parts
      .flat()
      .map((cells) => centsOf(cells[5]))
      .filter((cents) => cents > 0n)
    expect(sumOf(debits)).toBe(sumOf(whole.map((cells) => centsOf(cells[3]))))
  },
)

const without = (unlabelled: string) => (account: string) =>
  account === unlabelled ? { code: null, name: null } : chart(account)

test('only accounts of written lines need a code', () => {
  const [lax, strict] = ['expenses:fees:service', 'expenses:rounding'].map(
    (account) => formatOf('xero', { chart: without(account), currency: 'EUR' }).gaps,
  )
  lax?.add(settlement)
  lax?.refuse()
  strict?.add(settlement)
  expect(() => strict?.refuse()).toThrow(
    /no code of the account: expenses:rounding".*add codes to the setting accounts.labels/,
  )
})

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { array, assert, constantFrom, oneof, property, string, stringMatching, tuple } from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ExportedAsset,
  type ExportedJournal,
  type ExportFormat,
  Tally,
} from '../../../src/ledger/export/exported-journal.ts'
import { formatNames, formatOf } from '../../../src/ledger/export/formats.ts'
import { beancountAccount, commodityOf, hledgerAccount } from '../../../src/ledger/export/plain-text.ts'
import { temporaryFolder } from '../../support/folder.ts'
import {
  beancountBalances,
  beancountInstalled,
  hledgerBalances,
  hledgerInstalled,
  runProgram,
  shortest,
} from '../../support/plain-text-accounting.ts'

const settings = { chart: () => ({ code: null, name: null }), currency: 'EUR' }

function asset(key: string, symbol: string, decimals: number): ExportedAsset {
  return { key, symbol, decimals, commodity: commodityOf({ key, symbol }) }
}

const usdc = asset('base/0x00000000000000000000000000000000000000b1', 'USDC', 6)
const eth = asset('base/native', 'ETH', 18)

const settlement: ExportedJournal = {
  id: 12n,
  postingKey: 'settlement/base/0xab/0#1',
  kind: 'settlement',
  depositId: 3n,
  reverses: null,
  reason: null,
  period: '2026-02',
  eventAt: '2026-01-31T23:59:59.000001Z',
  recordedAt: '2026-02-03T08:00:00.123456Z',
  transfers: [
    {
      leg: 1,
      debit: 'trading:base/USDC',
      credit: 'assets:in_transit:base',
      asset: usdc,
      amount: 1_500_000n,
    },
    {
      leg: 2,
      debit: 'assets:in_transit:base',
      credit: 'liabilities:suspense',
      asset: eth,
      amount: 1n,
    },
  ],
  values: [
    { account: 'trading:base/USDC', asset: usdc, units: 1_500_000n, value: 135n, price: '0.9' },
    { account: 'assets:in_transit:base', asset: usdc, units: -1_500_000n, value: -135n, price: '0.9' },
  ],
  lots: null,
}

const [inUsdc, inEth] = settlement.transfers
const reversal: ExportedJournal = {
  ...settlement,
  id: 13n,
  kind: 'reversal',
  depositId: null,
  reverses: 12n,
  reason: 'wrong,\n\n"twice"',
  period: '2026-01',
  transfers: [inEth, inUsdc, inUsdc]
    .flatMap((one) => one ?? [])
    .map((one) => ({ ...one, debit: 'assets:a  b' })),
}

/** As an export writes it. */
function textOf(format: ExportFormat, journals: readonly ExportedJournal[]): string {
  return format.head + journals.flatMap(format.journal).join('') + format.tail(tallyOf(journals).used(), null)
}

function tallyOf(journals: readonly ExportedJournal[]): Tally {
  const tally = new Tally()
  for (const journal of journals) tally.add(journal)
  return tally
}

/** In a currency; their files are in journal-import.test.ts. */
const isImport = (name: string) => name === 'xero' || name === 'quickbooks'

test.each(formatNames.filter((name) => !isImport(name)))('%s', (name) => {
  const format = formatOf(name, settings)
  expect(`${format.file}\n${textOf(format, [reversal, settlement])}`).toMatchSnapshot()
})

test('journals, transfers and amounts of each asset are added up', () => {
  const tally = tallyOf([reversal, settlement])
  expect(tally.counts()).toEqual({ journals: '2', transfers: '5' })
  expect(tally.totals()).toEqual([
    {
      asset: usdc.key,
      symbol: 'USDC',
      commodity: usdc.commodity,
      transfers: '3',
      amount: '4.500000',
      amount_base: '4500000',
    },
    {
      asset: eth.key,
      symbol: 'ETH',
      commodity: eth.commodity,
      transfers: '2',
      amount: '0.000000000000000002',
      amount_base: '2',
    },
  ])
})

test.each(formatNames)('%s tells why people booked a journal', (name) => {
  const reason = 'bank fee, \n"March"'
  const transfers = settlement.transfers.slice(0, 1)
  const text = textOf(formatOf(name, settings), [
    { ...settlement, transfers, kind: 'manual', depositId: null, reason },
  ])
  expect(text).toContain('March')
  if (name === 'hledger') expect(text).toContain('    ; reason:bank fee\\u002c  "March"\n')
  if (name === 'beancount') expect(text).toContain('  reason: "bank fee,  \\"March\\""\n')
})

test.each(formatNames)('%s without any journal is a file all the same', (name) => {
  expect(textOf(formatOf(name, settings), [])).toMatch(/^[^\0]*$/)
})

/** Keys and symbols as settings and strangers may write them. */
const odd = oneof(string(), string({ unit: 'grapheme' }), constantFrom('USDC', 'usdc', '1INCH', '', '=A1'))

test('a commodity is one to Beancount, and so to hledger in quotes, whatever the symbol', () => {
  assert(
    property(stringMatching(/^[a-z][a-z0-9-]{0,30}$/), odd, odd, (network, code, symbol) => {
      expect(commodityOf({ key: `${network}/${code}`, symbol })).toMatch(/^[A-Z][A-Z0-9.]{0,22}[A-Z0-9]$/)
    }),
  )
})

test('two assets with the same symbol and network have two names, and each keeps its own', () => {
  const [one, other] = ['base/0xb1', 'base/0xb2'].map((key) => commodityOf({ key, symbol: 'USDC' }))
  expect(one).not.toBe(other)
  expect(one).toBe('USDC.BASE.3CD82FA')
  expect(commodityOf({ key: 'base/0xb1', symbol: '1INCHTOKENS' })).toBe('X1INCHTO.BASE.3CD82FA')
  expect(commodityOf({ key: '-/0xb1', symbol: 'USDC' })).toMatch(/^USDC\.[0-9A-F]{7}$/)
})

const account = tuple(constantFrom('assets', 'liabilities'), array(odd, { minLength: 1, maxLength: 3 })).map(
  ([root, parts]) => [root, ...parts].join(':'),
)

test('an account is one to both, and no two have the same name', () => {
  assert(
    property(account, account, (one, other) => {
      expect(beancountAccount(one)).toMatch(/^[A-Z][A-Za-z0-9-]*(:[A-Z0-9][A-Za-z0-9-]*)+$/)
      expect(hledgerAccount(one)).toMatch(/^[a-z]+(:[A-Za-z0-9][A-Za-z0-9_.@+/~-]*)+$/)
      expect(beancountAccount(one) === beancountAccount(other)).toBe(one === other)
      expect(hledgerAccount(one) === hledgerAccount(other)).toBe(one === other)
    }),
  )
})

test.each([
  [
    'liabilities:deposits:channel:shop',
    'liabilities:deposits:channel:shop',
    'Liabilities:Deposits:Channel:Shop',
  ],
  [
    'liabilities:deposits:channel:Shop',
    'liabilities:deposits:channel:Shop',
    'Liabilities:Deposits:Channel:Shop-XD00AAE6B7F',
  ],
  ['assets:in_transit:base', 'assets:in_transit:base', 'Assets:In-transit:Base'],
  ['assets:x:in-transit', 'assets:x:in-transit', 'Assets:X:In-transit-XA4C6B146FD'],
  ['assets:a  ; b', 'assets:a-b~9870C4D389', 'Assets:A-b-X9870C4D389'],
  [
    `assets:é${'a'.repeat(50)}`,
    `assets:${'a'.repeat(40)}~2A9FCD8B0E`,
    `Assets:A${'a'.repeat(39)}-X2A9FCD8B0E`,
  ],
])('%s is %s to hledger and %s to Beancount', (name, hledger, beancount) => {
  expect([hledgerAccount(name), beancountAccount(name)]).toEqual([hledger, beancount])
})

describe.skipIf(!hledgerInstalled())('hledger', () => {
  test('checks a journal of odd accounts and long amounts, and reads every digit', async () => {
    const file = await writtenFile('hledger', oddJournals)
    expect(runProgram('hledger', '-f', file, 'check', '--strict')).toEqual({ status: 0, said: '' })
    expect(hledgerBalances(file)).toEqual(balancesOf(oddJournals, hledgerAccount))
  })
})

describe.skipIf(!beancountInstalled())('Beancount', () => {
  test('checks a file of odd accounts, and reads every digit', async () => {
    const journals = oddJournals.map((journal) => ({
      ...journal,
      transfers: journal.transfers.map((transfer) => ({ ...transfer, amount: transfer.amount % 10n ** 26n })),
    }))
    const file = await writtenFile('beancount', journals)
    expect(runProgram('bean-check', file)).toEqual({ status: 0, said: '' })
    expect(beancountBalances(file)).toEqual(balancesOf(journals, beancountAccount))
  })
})

test('what Beancount would round is refused instead', () => {
  const [first] = settlement.transfers
  const of = (amount: bigint) =>
    textOf(formatOf('beancount', settings), [
      { ...settlement, transfers: first ? [{ ...first, amount }] : [] },
    ])
  expect(() => of(10n ** 28n)).toThrow(/^usage_bad: .*more than 28 digits.*use --format hledger/)
  expect(of(10n ** 28n - 1n)).toContain('9999.999999 USDC')
})

const oddIds = ['shop', 'Shop', 'a  b', ' ; c', '(d)', 'é"\\', '', 'x\ny', '=1', '9', '*', '!', 'e|f']

/** Of each odd owner a deposit of each asset; the first of an amount that no other is as long as. */
const oddJournals: ExportedJournal[] = [
  usdc,
  eth,
  asset('solana/X', '1INCH', 0),
  asset('base/"', ';"', 2),
].flatMap((one, place) =>
  oddIds.map((id, number) => ({
    ...settlement,
    id: BigInt(place * 100 + number),
    postingKey: `deposit/${id}`,
    reverses: number === 2 ? 1n : null,
    depositId: number === 3 ? null : 1n,
    reason: number === 4 ? '=1;\n"x\\ é' : null,
    transfers: [
      {
        leg: 1,
        debit: 'assets:in_transit:base',
        credit: `liabilities:deposits:channel:${id}`,
        asset: one,
        amount: number === 0 ? 2n ** 256n - 1n : BigInt(number),
      },
    ],
  })),
)

async function writtenFile(
  name: 'hledger' | 'beancount',
  journals: readonly ExportedJournal[],
): Promise<string> {
  const format = formatOf(name, settings)
  const file = join(await temporaryFolder(), format.file)
  writeFileSync(file, textOf(format, journals))
  return file
}

function balancesOf(journals: readonly ExportedJournal[], nameOf: (account: string) => string) {
  const sums = new Map<string, { asset: ExportedAsset; sum: bigint }>()
  const add = (name: string, one: ExportedAsset, signed: bigint) => {
    const key = `${nameOf(name)} ${one.commodity}`
    sums.set(key, { asset: one, sum: (sums.get(key)?.sum ?? 0n) + signed })
  }
  for (const { debit, credit, asset: one, amount } of journals.flatMap(({ transfers }) => transfers)) {
    add(debit, one, amount)
    add(credit, one, -amount)
  }
  const shown = [...sums].map(([key, { asset: one, sum }]): [string, string] => [
    key,
    shortest(`${sum}E-${one.decimals}`),
  ])
  return new Map(shown.filter(([, balance]) => balance !== '0'))
}

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DraftLine, draftTransfers, isReason } from '../../../src/ledger/draft-journal.ts'
import { runs } from '../../support/any-evidence.ts'

const books = {
  assets: new Map([
    ['base/0xb1', { symbol: 'USDC', network: 'base', decimals: 6 }],
    ['base/0xb2', { symbol: 'DAI', network: 'base', decimals: 2 }],
    ['base/0xb3', { symbol: 'DAI', network: 'base', decimals: 2 }],
  ]),
  isKnown: (account: string) => account !== 'assets:typo',
}

const draft = (...lines: DraftLine[]) => draftTransfers(lines, books)
const line = (changes: Partial<DraftLine> = {}): DraftLine => ({
  asset: 'base/USDC',
  amount: '1',
  ...changes,
})
const both = { debit: 'assets:bank', credit: 'income:other' }

test('a line with both sides is a transfer, in smallest units of the asset that it names', () => {
  const { transfers, faults } = draft(
    line({ ...both, amount: '75.5' }),
    line({ ...both, asset: 'base/0xb2' }),
  )
  expect(faults).toEqual([])
  expect(transfers).toEqual([
    { ...both, asset: 'base/0xb1', amount: 75_500_000n },
    { ...both, asset: 'base/0xb2', amount: 100n },
  ])
})

test('lines with one side are joined, asset by asset, in their order', () => {
  const { transfers, faults } = draft(
    line({ debit: 'assets:bank', amount: '7' }),
    line({ credit: 'income:other', amount: '4' }),
    line({ debit: 'expenses:fees', amount: '3' }),
    line({ credit: 'liabilities:suspense', amount: '6' }),
  )
  expect(faults).toEqual([])
  expect(transfers.map(({ debit, credit, amount }) => `${debit} ${credit} ${amount}`)).toEqual([
    'assets:bank income:other 4000000',
    'assets:bank liabilities:suspense 3000000',
    'expenses:fees liabilities:suspense 3000000',
  ])
})

test.each<[string, DraftLine[], string]>([
  [
    'debits that are more than credits',
    [line({ debit: 'assets:bank', amount: '10' }), line({ credit: 'income:other', amount: '9.5' })],
    'base/USDC is not balanced: debits 10.000000, credits 9.500000',
  ],
  [
    'sides in two assets',
    [line({ debit: 'assets:bank' }), line({ credit: 'income:other', asset: 'base/0xb2' })],
    'base/USDC is not balanced: debits 1.000000, credits 0.000000\nbase/DAI is not balanced: debits 0.00, credits 1.00',
  ],
  [
    'an unknown account',
    [line({ ...both, debit: 'assets:typo' })],
    'line 1 of the journal: account assets:typo does not exist: use an account of the books, or add it to the setting accounts.own',
  ],
  [
    'what is no account',
    [line({ debit: 'bank' })],
    'line 1 of the journal: account bank does not exist: use an account of the books, or add it to the setting accounts.own',
  ],
  [
    'an unknown asset',
    [line({ ...both, asset: 'base/USDX' })],
    'line 1 of the journal: asset base/USDX does not exist: write it as network/SYMBOL or network/contract',
  ],
  [
    'a symbol of two assets',
    [line({ ...both, asset: 'base/DAI' })],
    'line 1 of the journal: base/DAI matches several assets: use the contract instead of the symbol',
  ],
  [
    'more digits than the asset has',
    [line({ ...both, amount: '0.0000001' })],
    'line 1 of the journal: 0.0000001 is not an amount of USDC, which has 6 decimals',
  ],
  [
    'one account on both sides',
    [line({ debit: 'assets:bank', credit: 'assets:bank' })],
    'assets:bank is debited and credited with the same amount',
  ],
])('%s is refused', (_what, lines, fault) => {
  expect(draft(...lines).faults).toEqual(fault.split('\n'))
})

test.each([
  ['bank fee', true],
  ['x'.repeat(1000), true],
  ['x'.repeat(1001), false],
  [' ', false],
  ['two\nlines', false],
])('whether %j is a reason: %s', (text, isOne) => {
  expect(isReason(text)).toBe(isOne)
})

const total = (sides: number[]) => sides.reduce((sum, one) => sum + one, 0)
const amounts = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 6 })

test('whatever is joined, each line has its whole amount and nothing is left', () => {
  fc.assert(
    fc.property(amounts, amounts, (debits, credits) => {
      const [more, less] = [total(debits), total(credits)]
      const lines = [
        ...debits.map((amount, place) => line({ debit: `assets:d${place}`, amount: `${amount}` })),
        ...credits.map((amount, place) => line({ credit: `income:c${place}`, amount: `${amount}` })),
        ...(more > less ? [line({ credit: 'equity:rest', amount: `${more - less}` })] : []),
        ...(less > more ? [line({ debit: 'equity:rest', amount: `${less - more}` })] : []),
      ]
      const { transfers, faults } = draft(...lines)
      expect(faults).toEqual([])
      for (const { debit, credit, amount } of lines) {
        const of = transfers.filter((one) => one.debit === debit || one.credit === credit)
        expect(of.reduce((sum, one) => sum + one.amount, 0n)).toBe(BigInt(amount) * 1_000_000n)
      }
    }),
    runs,
  )
})

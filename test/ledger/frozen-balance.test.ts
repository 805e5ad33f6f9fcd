import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  addUp,
  type FrozenBalanceLine,
  hashBalance,
  type Period,
  parsePeriod,
} from '../../src/ledger/period.ts'

const january = '2026-01' as Period

function line(changes: Partial<FrozenBalanceLine> = {}): FrozenBalanceLine {
  return { account: 'assets:in_transit:base', asset: 'base/native', debit: 3n, credit: 0n, ...changes }
}

function hashOf(lines: readonly FrozenBalanceLine[], period = january): string {
  const hash = hashBalance(period)
  for (const one of lines) hash.add(one)
  return hash.digest()
}

test.each(['2026-01', '0001-12'])('%s is a month', (text) => {
  expect(parsePeriod(text)).toBe(text)
})

test.each(['2026-13', '2026-00', '2026-1', '26-01', '2026-01-01', '', ' 2026-01', '2026-01\n'])(
  '%j is no month',
  (text) => {
    expect(parsePeriod(text)).toBeNull()
  },
)

test('what is hashed is month, account, asset, debit and credit, by tabs and line feeds', () => {
  const text =
    '2026-01\tassets:in_transit:base\tbase/native\t3\t0\n2026-01\ttrading:base/native\tbase/native\t0\t3\n'
  const lines = [line(), line({ account: 'trading:base/native', debit: 0n, credit: 3n })]
  expect(hashOf(lines)).toBe(createHash('sha256').update(text).digest('hex'))
  const escaped = createHash('sha256').update('2026-01\ta:V\\t\\v\\\\\tbase/native\t3\t0\n').digest('hex')
  expect(hashOf([line({ account: 'a:V\t\v\\' })])).toBe(escaped)
  expect(hashOf([])).toBe(createHash('sha256').digest('hex'))
})

test.each<[string, FrozenBalanceLine[]]>([
  ['another account', [line({ account: 'assets:in_transit:arbitrum' })]],
  ['another asset', [line({ asset: 'base/0x1' })]],
  ['another debit', [line({ debit: 4n })]],
  ['the amount on the other side', [line({ debit: 0n, credit: 3n })]],
  ['one line more', [line(), line({ asset: 'base/0x1' })]],
  ['no line', []],
  [
    'a tab moved from one name into the next',
    [line({ account: 'assets:in_transit', asset: 'base\tbase/native' })],
  ],
])('%s has another hash', (_what, lines) => {
  expect(hashOf(lines)).not.toBe(hashOf([line()]))
  expect(hashOf([line()], '2026-02' as Period)).not.toBe(hashOf([line()]))
})

test('names that look alike once they are escaped have hashes of their own', () => {
  const names = ['a:\t', 'a:\\t', 'a:\\\t', 'a:\\\\t', 'a:\n', 'a:\\n', 'a:\r', 'a:\v', 'a:\f', 'a:\b']
  expect(new Set(names.map((account) => hashOf([line({ account })]))).size).toBe(names.length)
})

test('parts of the books add up account by account and asset by asset, in the order of their bytes', () => {
  const big = 2n ** 256n
  const parts = [
    line({ account: 'liabilities:\u{1f600}', debit: 1n }),
    line({ account: 'liabilities:\uff5e', debit: 1n }),
    line({ asset: 'base/usdt', debit: 7n }),
    line({ debit: big, credit: 1n }),
    line({ debit: big, credit: 2n }),
  ]
  expect(addUp(parts)).toEqual([
    line({ debit: 2n * big, credit: 3n }),
    line({ asset: 'base/usdt', debit: 7n }),
    line({ account: 'liabilities:\uff5e', debit: 1n }),
    line({ account: 'liabilities:\u{1f600}', debit: 1n }),
  ])
  expect(addUp([])).toEqual([])
})

import { expect, test } from 'vitest'
import {
  basisOf,
  buy,
  conversion,
  delivered,
  deposit,
  forwarded,
  gain,
  hour,
  type Line,
  one,
  owed,
  paid,
  sell,
  settlement,
  transit,
  two,
  Valued,
} from '../../support/carried-values.ts'

test('what a deposit gains until it is delivered, the customer gains too: no gain and nothing in clearing is left', () => {
  const books = new Valued()
  books.book([deposit(900n)], 1n)
  expect(gain(books.book(settlement(880n, 950n), 1n))).toBe(500n)
  expect(gain(books.book(conversion(880n, 950n), 1n))).toBe(-500n)
  expect(books.values()).toEqual({
    [`${forwarded} B`]: 9405n,
    'expenses:fees:service B': 95n,
    [`${owed} B`]: -9500n,
  })
})

test('what a delivery lacks keeps its value in clearing until it is owed by the service', () => {
  const books = new Valued()
  const [out, , fee] = settlement(900n, 900n) as [Line, Line, Line]
  const short = { debit: forwarded, credit: delivered, asset: 'B', amount: 79n, price: 900n }
  books.book([deposit(900n)], 1n)
  books.book([out, short, fee], 1n)
  books.book(conversion(900n, 900n), 1n)
  expect(books.values()[`${delivered} B`]).toBe(1800n)
  const receivable = {
    debit: 'assets:receivable:service',
    credit: delivered,
    asset: 'B',
    amount: 20n,
    price: 910n,
  }
  expect(gain(books.book([receivable], 1n))).toBe(20n)
  expect(books.values()).toMatchObject({
    'assets:receivable:service B': 1820n,
    'income:gains:realised': -20n,
  })
  expect(Object.keys(books.values()).filter((name) => name.startsWith('trading:'))).toEqual([])
})

test('income is worth what it was worth at payment, and the conversion has a gain, although trading keeps its units', () => {
  const books = new Valued()
  books.book([{ ...deposit(900n), credit: 'income:sales' }], 1n)
  books.book(settlement(880n, 950n), 1n)
  expect(books.values()).toEqual({
    [`${forwarded} B`]: 9405n,
    'expenses:fees:service B': 95n,
    'income:sales A': -9000n,
    'income:gains:realised': -500n,
  })
  expect(books.lots().map(({ account, units, cost }) => [account, units, cost])).toContainEqual([
    paid,
    100n,
    0n,
  ])
})

test('a move between own accounts is no disposal, and keeps cost and date of what is given away later', () => {
  const books = new Valued()
  books.book([buy(10n, 100n)])
  const moved = books.book([{ debit: two, credit: one, asset: 'A', amount: 4n, price: 990n }])
  expect(moved.lines.map(({ account, value }) => [account, value])).toEqual([
    [two, 40n],
    [one, -40n],
  ])
  expect(moved.disposals).toEqual([])
  const [disposal] = books.book([sell(4n, 150n, two)]).disposals
  expect(disposal).toMatchObject({ acquiredAt: hour(1n), units: 4n, cost: 40n, proceeds: 60n })
})

test('with one pool per asset, the oldest units leave first, wherever they are, and each account keeps a value', () => {
  const books = new Valued(basisOf('fifo', 'asset'))
  books.book([buy(10n, 100n, one)])
  books.book([buy(10n, 200n, two)])
  const { lines, disposals } = books.book([sell(10n, 300n, two)])
  expect(disposals).toMatchObject([
    { account: two, acquiredAt: hour(1n), units: 10n, cost: 100n, proceeds: 300n },
  ])
  expect(lines).toContainEqual({ account: one, asset: 'A', units: 0n, value: 100n })
  expect(books.values()).toMatchObject({ [`${one} A`]: 200n })
})

test('what is taken back has no disposal, and what was disposed of is there again as it was acquired', () => {
  const books = new Valued()
  books.book([buy(10n, 100n)])
  books.book([buy(10n, 200n)])
  books.book([sell(15n, 300n)])
  const before = books.values()
  expect(books.reverse(3).disposals.map(({ units, cost, proceeds }) => [units, cost, proceeds])).toEqual([
    [-10n, -100n, -300n],
    [-5n, -100n, -150n],
  ])
  expect(books.reverse(2).disposals).toEqual([])
  expect(books.lots()).toMatchObject([{ origin: 1n, acquiredAt: hour(1n), units: 10n, cost: 100n }])
  expect(books.values()).not.toEqual(before)
  expect(books.values()).toEqual({ [`${one} A`]: 100n, 'equity:capital A': -100n })
})

test('settlements and conversions are taken back whole', () => {
  const books = new Valued()
  books.book([deposit(900n)], 1n)
  books.book(settlement(880n, 950n), 1n)
  const settled = books.values()
  books.book(conversion(880n, 950n), 1n)
  books.reverse(3)
  expect(books.values()).toEqual(settled)
  books.reverse(2)
  expect(books.values()).toEqual({ [`${transit} A`]: 9000n, [`${owed} A`]: -9000n })
})

test('a journal reads the pools of its own accounts and deposit, however many deposits are open', () => {
  const books = new Valued()
  for (const id of [1n, 2n, 3n]) {
    books.book([{ ...deposit(900n), credit: 'income:sales' }], id)
    books.book(settlement(880n, 950n), id)
  }
  books.read.length = 0
  books.book(settlement(870n, 940n), 2n)
  const ofTrading = books.read.filter((key) => key.startsWith('trading:'))
  expect(new Set(ofTrading)).toEqual(new Set([`${paid} A 2`, `${delivered} B 2`]))
})

test('a deposit whose trading accounts are empty has no pools', () => {
  const books = new Valued()
  books.book([deposit(900n)], 1n)
  books.book(settlement(880n, 950n), 1n)
  expect(books.pools.ofDeposit(1n)).toEqual([`${paid} A 1`, `${delivered} B 1`])
  books.book(conversion(880n, 950n), 1n)
  expect(books.pools.ofDeposit(1n)).toEqual([])
})

test('own units of an opening enter at what they cost, and a reversal of what they became takes it back', () => {
  const books = new Valued()
  const [first, second] = [new Date('2025-03-01'), new Date('2025-11-20')]
  const lots = [
    { account: one, asset: 'A', acquiredAt: first, units: 60n, cost: 40n },
    { account: one, asset: 'A', acquiredAt: second, units: 40n, cost: 50n },
  ]
  expect(gain(books.open(lots, 10n))).toBe(0n)
  expect(books.values()).toEqual({ [`${one} A`]: 90n, 'equity:opening A': -90n })
  const { disposals } = books.book([sell(70n, 20n)])
  expect(disposals).toMatchObject([
    { acquiredAt: first, origin: 1n, units: 60n, cost: 40n, proceeds: 120n },
    { acquiredAt: second, origin: 1n, units: 10n, cost: 12n, proceeds: 20n },
  ])
  books.reverse(2)
  expect(books.lots().toSorted((a, b) => Number(b.units - a.units))).toMatchObject(lots)
  books.reverse(1)
  expect(books.values()).toEqual({})
})

import { array, assert, bigInt, boolean, constantFrom, integer, pre, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { type CostBasis, costMethods, costPools, type Lot, sumOf } from '../../../src/ledger/lots.ts'
import type { JournalToValue } from '../../../src/ledger/valued-journal.ts'
import {
  basisOf,
  buy,
  delivered,
  forwarded,
  type Line,
  one,
  owed,
  paid,
  sell,
  transit,
  treasuries,
  two,
  Valued,
} from '../../support/carried-values.ts'

const anyAccount = constantFrom(
  transit,
  forwarded,
  owed,
  'liabilities:suspense',
  ...treasuries,
  paid,
  delivered,
  'income:sales',
  'equity:capital',
  'expenses:fees:service',
)
const anyLine = record({
  debit: anyAccount,
  credit: anyAccount,
  asset: constantFrom('A', 'B'),
  amount: bigInt(1n, 1000n),
})
  .filter(({ debit, credit }) => debit !== credit)
  .filter(({ debit, credit, asset }) =>
    [debit, credit].every((name) => !name.startsWith('trading') || name.endsWith(asset)),
  )
const anyStep = record({
  lines: array(anyLine, { minLength: 1, maxLength: 4 }),
  prices: record({ A: bigInt(1n, 2000n), B: bigInt(1n, 2000n) }),
  depositId: constantFrom(null, 1n, 2n),
  reverses: integer({ min: 0, max: 40 }),
})
const anyBasis = record({
  method: constantFrom(...costMethods),
  pool: constantFrom(...costPools),
}).map(({ method, pool }) => basisOf(method, pool))

/** Accounts that share a pool share its costs too, one way or another. */
const inPools = (lots: readonly Lot[], { pool }: CostBasis): Lot[] =>
  pool === 'account' ? [...lots] : lots.map((lot) => ({ ...lot, account: lot.account.replace(two, one) }))

type Held = { account: string; asset: string | null; units: bigint; cost: bigint }

/** Units and cost of each account and asset that has any. */
function sums(held: readonly Held[]): Map<string, string> {
  const places = Map.groupBy(held, ({ account, asset }) => `${account} ${asset}`)
  const texts = [...places].map(([place, some]): [string, string] => {
    const { units, cost } = sumOf(some)
    return [place, `${units} ${cost}`]
  })
  return new Map(texts.filter(([, text]) => text !== '0 0'))
}

test('values sum to zero, are those of the lots, and are zero where no units are left', () => {
  assert(
    property(array(anyStep, { minLength: 1, maxLength: 25 }), anyBasis, (steps, basis) => {
      const books = new Valued(basis)
      const reversed = new Set<number>()
      for (const { lines, prices, depositId, reverses } of steps) {
        const original = books.journals[reverses - 1]
        const isNew = original === undefined || original.journal.reverses !== null || reversed.has(reverses)
        if (!isNew) reversed.add(reverses)
        const carried = isNew
          ? books.book(
              lines.map((line) => ({ ...line, price: prices[line.asset] })),
              depositId,
            )
          : books.reverse(reverses)
        expect(carried.lines.reduce((sum, { value }) => sum + value, 0n)).toBe(0n)
        for (const { units, cost } of books.lots()) {
          expect(units).not.toBe(0n)
          expect(cost === 0n || cost > 0n === units > 0n).toBe(true)
        }
      }
      const lines = books.journals
        .flatMap((journal) => journal.lines)
        .filter(({ account }) => /^(assets|liabilities|trading):/.test(account))
        .map(({ value: cost, ...line }) => ({ ...line, cost }))
      expect(sums(lines)).toEqual(sums(books.lots()))
    }),
  )
})

test('values do not depend on the order in which lots are loaded', () => {
  assert(
    property(array(anyStep, { minLength: 1, maxLength: 15 }), anyBasis, (steps, basis) => {
      const [books, reloading] = [new Valued(basis), new Valued(basis)]
      reloading.isReloading = true
      for (const { lines, prices, depositId } of steps)
        for (const run of [books, reloading])
          run.book(
            lines.map((line) => ({ ...line, price: prices[line.asset] })),
            depositId,
          )
      expect(reloading.journals).toMatchObject(
        books.journals.map(({ lines, disposals }) => ({ lines, disposals })),
      )
    }),
  )
})

const isExchange = ({ lines }: { lines: readonly Pick<Line, 'debit' | 'credit'>[] }) =>
  lines.some(({ debit, credit }) => debit.startsWith('trading:') || credit.startsWith('trading:'))

const unitsIn = (sum: string | undefined) => BigInt(sum?.split(' ')[0] ?? 0)

const isMove = ({ journal }: { journal: JournalToValue }) =>
  journal.changes.filter(({ account }) => account === one || account === two).length > 1

test('a reversal right after its journal takes back every line', () => {
  assert(
    property(array(anyStep, { minLength: 1, maxLength: 12 }), anyBasis, (steps, basis) => {
      const books = new Valued(basis)
      for (const account of treasuries)
        for (const asset of ['A', 'B']) books.book([{ ...buy(100_000n, 15n, account), asset }])
      let before = new Map<string, string>()
      for (const { lines, prices } of steps.filter((step) => !isExchange(step))) {
        before = sums(inPools(books.lots(), basis))
        books.book(lines.map((line) => ({ ...line, price: prices[line.asset] })))
      }
      const last = books.journals.at(-1)
      // Which of its units an own account got from another one is not kept; nor what a balance was before it changed sides.
      pre(before.size > 0 && last !== undefined && !isMove(last))
      for (const [place, sum] of sums(inPools(books.lots(), basis)))
        pre(unitsIn(sum) * unitsIn(before.get(place)) >= 0n)
      books.reverse(books.journals.length)
      expect(sums(inPools(books.lots(), basis))).toEqual(before)
    }),
  )
})

const anyTrade = record({ isSale: boolean(), amount: bigInt(1n, 50n), price: bigInt(1n, 500n) })
type Trade = { amount: bigint; price: bigint }

/** At most what is held. */
function sellSome(books: Valued, { amount, price }: Trade, held: bigint): { sold: bigint; cost: bigint } {
  const sold = amount < held ? amount : held
  if (sold === 0n) return { sold, cost: 0n }
  const { disposals } = books.book([sell(sold * 1000n, price)])
  return { sold, cost: sumOf(disposals).cost }
}

test('what was acquired first is given away first, at its own cost', () => {
  assert(
    property(array(anyTrade, { maxLength: 40 }), (trades) => {
      const books = new Valued()
      /** The price of each unit. */
      const units: bigint[] = []
      for (const { isSale, ...trade } of trades)
        if (isSale) {
          const { sold, cost } = sellSome(books, trade, BigInt(units.length))
          expect(cost).toBe(units.splice(0, Number(sold)).reduce((sum, price) => sum + price * 100n, 0n))
        } else {
          books.book([buy(trade.amount * 1000n, trade.price)])
          units.push(...Array.from({ length: Number(trade.amount) }, () => trade.price))
        }
    }),
  )
})

test('an average cost is that of all units, to half a coin', () => {
  assert(
    property(array(anyTrade, { maxLength: 40 }), (trades) => {
      const books = new Valued(basisOf('average'))
      const all = { units: 0n, cost: 0n }
      for (const { isSale, ...trade } of trades)
        if (isSale) {
          const { sold, cost } = sellSome(books, trade, all.units)
          const difference = 2n * (cost * all.units - all.cost * sold)
          expect(-all.units <= difference && difference <= all.units).toBe(true)
          all.units -= sold
          all.cost -= cost
        } else {
          books.book([buy(trade.amount * 1000n, trade.price)])
          all.units += trade.amount
          all.cost += trade.amount * trade.price * 100n
        }
    }),
  )
})

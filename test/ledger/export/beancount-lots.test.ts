import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { array, assert, bigInt, constantFrom, integer, property, record } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { accounts, gainAccounts } from '../../../src/core/chart.ts'
import { formatAmount } from '../../../src/core/money.ts'
import { formatMinor } from '../../../src/core/value.ts'
import {
  type ExportedAsset,
  type ExportedJournal,
  Tally,
} from '../../../src/ledger/export/exported-journal.ts'
import { formatOf } from '../../../src/ledger/export/formats.ts'
import { beancountAccount, commodityOf } from '../../../src/ledger/export/plain-text.ts'
import { type CostBasis, costPools } from '../../../src/ledger/lots.ts'
import { basisOf, one, owed, transit, two, Valued } from '../../support/carried-values.ts'
import { temporaryFolderOfFile } from '../../support/folder.ts'
import { beancountCents, beancountInstalled, runProgram } from '../../support/plain-text-accounting.ts'

const folder = temporaryFolderOfFile()
const file = join(folder, 'books.beancount')

const coin = (symbol: string): ExportedAsset => {
  const key = `base/${symbol}`
  return { key, symbol, decimals: 0, commodity: commodityOf({ key, symbol }) }
}

function exportedJournals({ journals }: Valued): ExportedJournal[] {
  return journals.map(({ journal, lines, own }) => {
    const eventAt = journal.eventAt.toISOString().replace('Z', '000Z')
    const priceOf = (asset: string | null) =>
      journal.changes.find((change) => change.asset === asset)?.price.digits
    return {
      id: journal.id,
      postingKey: `manual/${journal.id}`,
      kind: 'manual',
      depositId: journal.depositId,
      reverses: journal.reverses?.id ?? null,
      reason: null,
      period: eventAt.slice(0, 7),
      eventAt,
      recordedAt: eventAt,
      transfers: [],
      values: lines.map(({ account, asset, units, value }) => {
        const price = asset === null ? null : formatAmount(priceOf(asset) ?? 0n, 3)
        return { account, asset: asset === null ? null : coin(asset), units, value, price }
      }),
      lots: own.map(({ account, asset, origin, acquiredAt, units, cost }) => {
        return {
          account,
          asset: coin(asset),
          origin,
          day: acquiredAt?.toISOString().slice(0, 10) ?? '',
          units,
          cost,
        }
      }),
    }
  })
}

function textOf(books: Valued): string {
  const format = formatOf('beancount', {
    chart: () => ({ code: null, name: null }),
    currency: 'EUR',
    isValued: true,
    basis: books.basis,
  })
  const journals = exportedJournals(books)
  const tally = new Tally()
  for (const journal of journals) {
    format.gaps?.add(journal)
    tally.add(journal)
  }
  return format.head + journals.flatMap(format.journal).join('') + format.tail(tally.used(), null)
}

/** Cents that Beancount carries each account at, and the gain of each journal that it computed. */
function inBeancount(text: string) {
  writeFileSync(file, text)
  expect(runProgram('bean-check', file)).toEqual({ status: 0, said: '' })
  return {
    accounts: beancountCents(
      file,
      `select account, str(number(only('EUR', sum(cost(position))))) group by account`,
    ),
    gains: beancountCents(
      file,
      `select any_meta('journal') as booked, str(sum(number)) where account = 'Income:Gains:Realised' group by booked`,
    ),
  }
}

function inBooks(books: Valued) {
  const lines = books.journals.flatMap(({ journal, lines: own }) => own.map((line) => ({ ...line, journal })))
  const sums = (keyOf: (line: (typeof lines)[number]) => string, some = lines) =>
    new Map(
      [...Map.groupBy(some, keyOf)]
        .map(([key, own]): [string, bigint] => [key, own.reduce((sum, { value }) => sum + value, 0n)])
        .filter(([, cents]) => cents !== 0n)
        .map(([key, cents]): [string, string] => [key, formatMinor(cents, 'EUR')]),
    )
  const gains = lines.filter(({ account }) => account === gainAccounts.realised)
  return {
    accounts: sums(({ account }) => beancountAccount(account)),
    gains: sums(({ journal }) => journal.id.toString(), gains),
  }
}

const anyAccount = constantFrom(transit, owed, one, one, two, 'expenses:goods', accounts.opening)
const anyStep = record({
  lines: array(
    record({
      debit: anyAccount,
      credit: anyAccount,
      asset: constantFrom('A', 'A', 'B'),
      amount: bigInt(1n, 1000n),
      price: bigInt(1n, 2000n),
    }).filter(({ debit, credit }) => debit !== credit),
    { minLength: 1, maxLength: 2 },
  ),
  reverses: integer({ min: -20, max: 20 }),
  hours: integer({ min: 0, max: 24 * 6 }),
})

test('own funds at average cost have no lots in Beancount', () => {
  const settings = { chart: () => ({ code: null, name: null }), currency: 'EUR', isValued: true }
  const lotsOf = (basis: CostBasis | null) => formatOf('beancount', { ...settings, basis }).lots
  expect(lotsOf(basisOf('fifo'))).toEqual({ ...basisOf('fifo'), currency: 'EUR' })
  expect([basisOf('average'), { ...basisOf(), own: [] }, null].map(lotsOf)).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

const openingLots = [
  { account: one, asset: 'A', acquiredAt: new Date('2025-03-01'), units: 300n, cost: 331n },
  { account: one, asset: 'A', acquiredAt: new Date('2025-11-20'), units: 200n, cost: 1n },
  { account: two, asset: 'A', acquiredAt: new Date('2025-06-01'), units: 70n, cost: 999n },
]

const moved = ([debit, credit]: [string, string], amount: bigint, days: number) => ({
  lines: [{ debit, credit, asset: 'A', amount, price: 1n }],
  reverses: -1,
  hours: 24 * days,
})
const reversal = (journal: number) => ({ lines: [], reverses: journal, hours: 0 })

/** What two reversals bring back to a lot that was used up has another cost per unit, and an earlier day. */
const lateReversals = [
  moved([two, one], 103n, 0),
  moved([transit, one], 14n, 0),
  moved([transit, one], 14n, 0),
  moved([one, two], 103n, 1),
  moved(['expenses:goods', one], 272n, 2),
  reversal(3),
  reversal(4),
]

describe.skipIf(!beancountInstalled())('lots of own funds in Beancount', () => {
  test.each(costPools)('with a pool of each %s, gains and costs are those of the books', (pool) => {
    assert(
      property(array(anyStep, { minLength: 5, maxLength: 40 }), (steps) => {
        const books = new Valued(basisOf('fifo', pool))
        books.open(openingLots, 12n)
        const reversed = new Set<number>()
        for (const { lines, reverses, hours } of steps) {
          const original = books.journals[reverses - 1]
          const isReversal = original?.journal.reverses === null && !reversed.has(reverses)
          if (isReversal) books.reverse(reverses)
          else books.book(lines, null, new Date(Date.UTC(2026, 0, 1, hours)))
          if (isReversal) reversed.add(reverses)
        }
        expect(inBeancount(textOf(books))).toEqual(inBooks(books))
      }),
      { numRuns: Number(process.env.RUNS ?? 6), endOnFailure: true, examples: [[lateReversals]] },
    )
  })
})

import { type Kysely, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AssetKey } from '../../../src/core/asset.ts'
import type { ClaimStatus } from '../../../src/core/evidence.ts'
import type { Amount } from '../../../src/core/money.ts'
import type { ContraRule } from '../../../src/core/owed.ts'
import { openDatabase } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import {
  at,
  channelAddress,
  claim,
  delivery,
  liquidity,
  payment,
  policy,
  txId,
  usdcOnArbitrum,
  usdcOnBase,
  webhook,
} from '../../support/evidence.ts'
import { openExampleBooks } from '../../support/example-books.ts'

let books: Books
let accountant: Kysely<Tables>

beforeAll(async () => {
  books = await openExampleBooks()
  accountant = openAsAccountant(books)
})
afterAll(async () => {
  await accountant.destroy()
  await books[Symbol.asyncDispose]()
})

function openAsAccountant({ url }: Books): Kysely<Tables> {
  const options = { url, poolMax: 1, applicationName: 'test accountant', role: 'depositd_accountant' }
  return openDatabase<Tables>(options)
}

async function balancesOf(db: Kysely<Tables>, accounts: string) {
  const { rows } = await sql<{ asset: string; amount: string }>`
    select asset, sum(balance)::text as amount from accounting.balances
    where account like ${accounts} group by asset having sum(balance) <> 0 order by asset`.execute(db)
  return rows
}

async function read<Row>(text: string, db = accountant): Promise<Row[]> {
  return (await sql.raw<Row>(text).execute(db)).rows
}

test('daily totals, ages and ties add up to what is in transit, and fees to their account, with all that was taken back', async () => {
  const transit = await balancesOf(accountant, 'assets:in_transit:%')
  expect(transit).toEqual([{ asset: usdcOnBase, amount: '115.000000' }])
  const summed = (what: string, view: string) =>
    read(
      `select asset, sum(${what})::text as amount from ${view} group by asset having sum(${what}) <> 0 order by asset`,
    )
  expect(await summed('amount - settled - otherwise', 'accounting.daily_totals')).toEqual(transit)
  expect(await summed('amount', 'accounting.in_transit_age')).toEqual(transit)
  expect(await summed('in_transit', 'accounting.tie_out')).toEqual(transit)
  const fees = await read(
    `select settlement_asset as asset, sum(fee)::text as amount from accounting.fees where borne_by = 'us' group by 1 order by 1`,
  )
  expect(fees).toEqual(await balancesOf(accountant, 'expenses:fees:service'))
})

test('a settlement that is taken back counts for nothing on its day, and its fee is a row of its own', async () => {
  await using own = await openBooks()
  const reader = openAsAccountant(own)
  await own.receive(webhook(), claim(), payment(), delivery())
  await own.settle()
  await own.receive(delivery({ stage: 'orphaned', epoch: 1 }))
  await own.settle()
  const [day] = await read<object>('select * from accounting.daily_totals', reader)
  expect(day).toMatchObject({ deposits: 1n, amount: '100.000000', settlements: 0n, settled: '0.000000' })
  expect(await read('select amount, fee from accounting.fees order by journal_id', reader)).toEqual([
    { amount: '100.000000', fee: '0.100000' },
    { amount: '-100.000000', fee: '-0.100000' },
  ])
  await reader.destroy()
})

const held = (when: string) =>
  read(`select deposit_id, amount::text, bucket from accounting.in_transit_at(${when}) order by deposit_id`)

test('what was in transit is told as of when it happened, and as of when it was written', async () => {
  expect(await held("'2026-01-01 10:01:00Z'")).toEqual([
    { deposit_id: 1n, amount: '100.000000', bucket: '< 1 h' },
  ])
  expect(await held("'2026-01-02 15:30:00Z'")).toEqual([
    { deposit_id: 5n, amount: '75.000000', bucket: '< 1 h' },
  ])
  expect(await held("'2026-01-04Z'")).toEqual([
    { deposit_id: 5n, amount: '75.000000', bucket: '< 3 d' },
    { deposit_id: 6n, amount: '40.000000', bucket: '< 3 d' },
  ])
  expect(await held("'2026-01-04Z', '2026-01-04Z'")).toEqual([])
})

test('a payment that came back in another block is in transit since that one', async () => {
  await using own = await openBooks({ now: () => at(10_000) })
  const reader = openAsAccountant(own)
  const claims = [webhook({ status: 'confirmed' }), claim({ status: 'confirmed' })]
  await own.receive(...claims, payment())
  await own.settle()
  await own.receive(
    payment({ stage: 'orphaned', epoch: 1 }),
    payment({ epoch: 1, blockAt: at(30), height: 12n }),
  )
  await own.settle()
  expect(await read('select since from accounting.in_transit_age', reader)).toEqual([{ since: at(30) }])
  await reader.destroy()
})

async function openConversions(status: ClaimStatus, contras: ContraRule[] = []): Promise<object[]> {
  await using own = await openBooks({
    now: () => at(600),
    rules: { policy, routes: [], senders: new Set(), contras },
  })
  const reader = openAsAccountant(own)
  await own.receive(webhook(), claim({ status }), payment(), delivery())
  await own.settle()
  const rows = await read<object>(
    `select state, owner_id, asset, amount, since from accounting.open_conversions order by amount desc`,
    reader,
  )
  await reader.destroy()
  return rows
}

test('a delivery that the API never calls settled is an open conversion; a sale, and what is settled, are none', async () => {
  const of = { state: 'settled', owner_id: 'shop', since: at(3) }
  expect(await openConversions('settling')).toEqual([
    { ...of, asset: usdcOnBase, amount: '100.000000' },
    { ...of, asset: usdcOnArbitrum, amount: '-100.000000' },
  ])
  expect(await openConversions('settled')).toEqual([])
  expect(await openConversions('settling', [{ pattern: {}, account: 'income:sales' }])).toEqual([])
})

test('each line of a tie is told apart, and together they are the balance', async () => {
  await using own = await openExampleBooks()
  const reader = openAsAccountant(own)
  const tie = () =>
    read<object>(
      `select in_transit_base as transit, out_of_transit_base as out, not_booked_base as waits, outside_base as outside,
        opening_base as opening, moved_base as moved, unexplained_base as unexplained, balance_base as balance,
        difference_base as difference
      from accounting.tie_out where address = '${channelAddress}' and asset = '${usdcOnBase}'`,
      reader,
    )
  const proved = {
    out: '300000000',
    opening: '0',
    moved: '-300000000',
    unexplained: '0',
    balance: '115000000',
  }
  expect(await tie()).toEqual([
    { transit: '115000000', waits: '0', outside: '0', ...proved, difference: '0' },
  ])
  await own.receive(payment({ tx: txId('above'), height: 21n }), payment({ tx: txId('below'), height: 0n }))
  await own.settle()
  expect(await tie()).toEqual([
    { transit: '315000000', waits: '0', outside: '-200000000', ...proved, difference: '0' },
  ])
  await own.receive(payment({ tx: txId('not booked'), height: 20n }))
  const change = 'update balance_point set balance = balance + 100000000 + 3, opening = 3'
  await sql.raw(`${change} where asset = '${usdcOnBase}' and address = '${channelAddress}'`).execute(own.db)
  const later = { ...proved, opening: '3', balance: '215000003' }
  expect(await tie()).toEqual([
    { transit: '315000000', waits: '100000000', outside: '-200000000', ...later, difference: '0' },
  ])
  await sql`
    insert into balance_difference (network, address, asset, after_height, after_balance, height, balance, change)
    values ('base', ${channelAddress}, ${usdcOnBase}, 18, 0, 20, 8, 8)`.execute(own.db)
  expect(await tie()).toMatchObject([{ unexplained: '8', difference: '-8' }])
  await reader.destroy()
})

test('coin that the service sends for moving a deposit on is in no view but tie_out, as not booked', async () => {
  await using own = await openBooks({
    rules: { policy, routes: [], senders: new Set([`base/${liquidity}`]) },
  })
  const reader = openAsAccountant(own)
  await own.receive(
    payment({ from: liquidity, asset: 'base/native' as AssetKey, index: 'native', amount: 70n as Amount }),
  )
  await own.settle()
  await sql`insert into asset (key, network, symbol, decimals) values ('base/native', 'base', 'ETH', 18)`.execute(
    own.db,
  )
  await sql`insert into balance_point (network, address, asset, opening_height, height, balance, checked_at)
    values ('base', ${channelAddress}, 'base/native', 0, 1000, 70, now())`.execute(own.db)
  expect(await read('select * from accounting.deposits', reader)).toEqual([])
  expect(await read('select not_booked_base as waits, difference from accounting.tie_out', reader)).toEqual([
    { waits: '70', difference: expect.stringMatching(/^0(\.0+)?$/) },
  ])
  await reader.destroy()
})

import { sql, type Transaction } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Address, AssetKey, NetworkName } from '../../../src/core/asset.ts'
import { enrolAddresses, readWatchList } from '../../../src/store/chain/chain-watch.ts'
import {
  addCoverage,
  countGaps,
  nextGap,
  noteGaps,
  readScanPosition,
  saveScanPosition,
} from '../../../src/store/chain/coverage.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { saveOwner } from '../../../src/store/owners.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at, base, channelAddress, usdcOnBase, usdtOnBase } from '../../support/evidence.ts'

let books: Books

beforeAll(async () => {
  books = await openBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

let made = 0

/** Each test has a network to itself. */
function newNetwork(): NetworkName {
  made += 1
  return `net${made}` as NetworkName
}

const both = [usdcOnBase, usdtOnBase].toSorted()
const write = <Result>(work: (tx: Transaction<Tables>) => Promise<Result>) => inTransaction(books.db, work)

function enrol(network: NetworkName, count: number, fromHeight: bigint): Promise<number> {
  const addresses = Array.from({ length: count }, (_, place) => `0x${fromHeight}${place}${made++}` as Address)
  return write((tx) => enrolAddresses(tx, network, { addresses, fromHeight }))
}

const stand = (network: NetworkName, height: bigint, assets: readonly AssetKey[] = both) =>
  write((tx) => saveScanPosition(tx, network, { height, assets }))

type Read = { watched: number; from: bigint; to: bigint; assets?: readonly AssetKey[] }

const cover = (network: NetworkName, { watched, from, to, assets = both }: Read) =>
  write((tx) => addCoverage(tx, network, { watched, assets, proved: [{ from, to }] }))

async function rows(network: NetworkName): Promise<string[]> {
  const found = await sql<{ line: string }>`
    select concat_ws(' ', watched, cardinality(assets), heights) as line from chain_coverage
    where network = ${network} order by watched, assets`.execute(books.db)
  return found.rows.map(({ line }) => line)
}

async function gaps(network: NetworkName): Promise<string[]> {
  const found = await sql<{ line: string }>`
    select concat_ws(' ', watched_from, watched_to, heights) as line from chain_gap
    where network = ${network} order by watched_from`.execute(books.db)
  return found.rows.map(({ line }) => line)
}

test('what is read again and again is one contiguous row that ends at the cursor', async () => {
  const network = newNetwork()
  await enrol(network, 3, 10n)
  for (const to of [19n, 29n, 39n]) {
    await cover(network, { watched: 3, from: to - 9n, to })
    await stand(network, to)
  }
  expect(await rows(network)).toEqual(['3 2 {[10,40)}'])
  expect(await readScanPosition(books.db, network)).toEqual({ height: 39n, assets: both })
  expect(await gaps(network)).toEqual([])
})

test('an address that comes later misses what was read before it, from its own height on', async () => {
  const network = newNetwork()
  await enrol(network, 3, 10n)
  await cover(network, { watched: 3, from: 10n, to: 39n })
  expect(await enrol(network, 2, 30n)).toBe(5)
  await cover(network, { watched: 5, from: 40n, to: 49n })
  await stand(network, 49n)
  expect(await rows(network)).toEqual(['3 2 {[10,40)}', '5 2 {[10,30),[40,50)}'])
  expect(await gaps(network)).toEqual(['4 5 {[30,40)}'])
  expect(await nextGap(books.db, network, 0n)).toMatchObject({ from: 30n, to: 39n, watched: 5, assets: both })
  await cover(network, { watched: 5, from: 30n, to: 39n })
  expect(await rows(network)).toEqual(['5 2 {[10,50)}'])
  expect(await gaps(network)).toEqual([])
})

test('a gap ends where other addresses begin to miss heights too', async () => {
  const network = newNetwork()
  await enrol(network, 1, 1n)
  await enrol(network, 1, 5n)
  await stand(network, 9n)
  const first = await nextGap(books.db, network, 0n)
  expect(first).toMatchObject({ from: 1n, to: 4n, watched: 2 })
  expect(first?.addresses).toHaveLength(1)
  const second = await nextGap(books.db, network, 5n)
  expect(second).toMatchObject({ from: 5n, to: 9n })
  expect(second?.addresses).toHaveLength(2)
  expect(await nextGap(books.db, network, 10n)).toBeNull()
})

test('a gap has the age of its first notice, and none once it is closed', async () => {
  const network = newNetwork()
  await enrol(network, 2, 1n)
  await stand(network, 9n)
  const note = (minutes: number, openMinutes: number) =>
    write((tx) => noteGaps(tx, network, { now: at(minutes), openSince: at(openMinutes) }))
  expect(await note(10, 0)).toBeNull()
  expect(await note(70, 10)).toEqual({
    network,
    ranges: 1,
    from: 1n,
    to: 9n,
    addresses: 2n,
    since: at(10),
  })
  await cover(network, { watched: 2, from: 1n, to: 9n })
  expect(await note(71, 11)).toBeNull()
  await stand(network, 10n)
  expect(await note(72, 12)).toBeNull()
  expect(await note(73, 72)).toMatchObject({ from: 10n, to: 10n, since: at(72) })
})

test('who looks at coverage sees each address, and each stretch that is missing', async () => {
  const network = newNetwork()
  await enrol(network, 1, 1n)
  await enrol(network, 1, 6n)
  await cover(network, { watched: 1, from: 1n, to: 9n })
  await stand(network, 9n)
  const coverage = await sql`
    select from_height, to_height, missing_heights from accounting.coverage
    where network = ${network} order by from_height`.execute(books.db)
  expect(coverage.rows).toEqual([
    { from_height: 1n, to_height: 9n, missing_heights: '0' },
    { from_height: 6n, to_height: 9n, missing_heights: '4' },
  ])
  const missing = await sql`
    select from_height, to_height, addresses from accounting.coverage_gaps where network = ${network}`.execute(
    books.db,
  )
  expect(missing.rows).toEqual([{ from_height: 6n, to_height: 9n, addresses: 1n }])
  expect(await countGaps(books.db)).toContainEqual({ network, ranges: 1, heights: 4 })
  await cover(network, { watched: 2, from: 6n, to: 9n })
  expect(await countGaps(books.db)).toContainEqual({ network, ranges: 0, heights: 0 })
})

test('the watch list has each address with its number and when it was made', async () => {
  const before = await readWatchList(books.db, base)
  expect(before.map(({ number }) => number)).toEqual([null, null])
  await write((tx) => enrolAddresses(tx, base, { addresses: [channelAddress], fromHeight: 5n }))
  await saveOwner(books.db, {
    owner: { kind: 'stable_wallet', id: 'later' },
    deposits: [{ network: base, address: '0x0000000000000000000000000000000000000003' as Address }],
    forward: null,
    createdAt: at(1),
  })
  const list = await readWatchList(books.db, base)
  expect(list.map(({ number }) => number)).toEqual([1, null, null])
  expect(list.at(-1)).toMatchObject({ role: 'deposit', createdAt: at(1) })
})

test('of twenty who number one address at once, one does', async () => {
  const network = newNetwork()
  const race = Array.from({ length: 20 }, () =>
    write((tx) => enrolAddresses(tx, network, { addresses: [channelAddress], fromHeight: 1n })),
  )
  const outcomes = await Promise.allSettled(race)
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('twenty who read stretches at once come to one row that has them all', async () => {
  const network = newNetwork()
  await enrol(network, 1, 1n)
  const race = Array.from({ length: 20 }, (_, place) =>
    cover(network, { watched: 1, from: BigInt(place * 10 + 1), to: BigInt(place * 10 + 10) }),
  )
  await Promise.all(race)
  expect(await rows(network)).toEqual(['1 2 {[1,201)}'])
})

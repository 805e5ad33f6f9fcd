import * as fc from 'fast-check'
import { sql, type Transaction } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Address, AssetKey, NetworkName } from '../../src/core/asset.ts'
import { enrolAddresses, readWatchList, watchFrom } from '../../src/store/chain-watch.ts'
import { addCoverage, readStanding, saveStanding, withdrawCoverage } from '../../src/store/coverage.ts'
import { countGaps, nextGap, noteGaps } from '../../src/store/coverage-gaps.ts'
import { inTransaction } from '../../src/store/database.ts'
import { saveOwner } from '../../src/store/owners.ts'
import type { Tables } from '../../src/store/tables.ts'
import { type Books, openBooks } from '../support/books.ts'
import { at, base, channelAddress, usdcOnBase, usdtOnBase } from '../support/evidence.ts'

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
  write((tx) => saveStanding(tx, network, { height, assets }))

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
  expect(await readStanding(books.db, network)).toEqual({ height: 39n, assets: both })
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

test('an address of the future misses nothing yet', async () => {
  const network = newNetwork()
  await enrol(network, 1, 100n)
  await stand(network, 49n)
  expect(await gaps(network)).toEqual([])
})

test('a hole is missed by all, and a change of history by nobody, for the cursor went back with it', async () => {
  const network = newNetwork()
  await enrol(network, 2, 1n)
  await cover(network, { watched: 2, from: 1n, to: 9n })
  await cover(network, { watched: 2, from: 11n, to: 20n })
  await stand(network, 20n)
  expect(await gaps(network)).toEqual(['1 2 {[10,11)}'])
  await write((tx) => withdrawCoverage(tx, network, { from: 8n, to: null }))
  await stand(network, 7n)
  expect(await rows(network)).toEqual(['2 2 {[1,8)}'])
  expect(await gaps(network)).toEqual([])
})

test('an asset that is added is missed everywhere, and one that is taken away nowhere', async () => {
  const network = newNetwork()
  await enrol(network, 1, 1n)
  await cover(network, { watched: 1, from: 1n, to: 9n, assets: [usdcOnBase] })
  await stand(network, 9n, [usdcOnBase])
  expect(await gaps(network)).toEqual([])
  await stand(network, 9n)
  expect(await gaps(network)).toEqual(['1 1 {[1,10)}'])
  await cover(network, { watched: 1, from: 1n, to: 9n })
  expect(await rows(network)).toEqual(['1 2 {[1,10)}'])
  await stand(network, 9n, [usdcOnBase])
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

test('what is read below the first height of addresses is theirs from then on, where it joins', async () => {
  const network = newNetwork()
  await enrol(network, 1, 10n)
  await enrol(network, 1, 30n)
  await cover(network, { watched: 2, from: 10n, to: 40n })
  await stand(network, 40n)
  await cover(network, { watched: 2, from: 3n, to: 9n })
  await write((tx) => watchFrom(tx, network, { from: 3n, to: 9n, watched: 2 }))
  const { rows: found } = await sql<{ from_height: bigint }>`
    select from_height from chain_watch where network = ${network} order by number`.execute(books.db)
  expect(found.map(({ from_height }) => from_height)).toEqual([3n, 30n])
  expect(await gaps(network)).toEqual([])
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
    stretches: 1,
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
  expect(await countGaps(books.db)).toContainEqual({ network, stretches: 1 })
  await cover(network, { watched: 2, from: 6n, to: 9n })
  expect(await countGaps(books.db)).toContainEqual({ network, stretches: 0 })
})

test('the watch list has each address with its number and when it was made', async () => {
  const before = await readWatchList(books.db, base)
  expect(before.map(({ number }) => number)).toEqual([null, null])
  await write((tx) => enrolAddresses(tx, base, { addresses: [channelAddress], fromHeight: 5n }))
  await saveOwner(books.db, {
    owner: { kind: 'stable_wallet', id: 'later' },
    deposits: [{ network: base, address: '0x0000000000000000000000000000000000000003' as Address }],
    forward: null,
  })
  await sql`update owner set created_at = ${at(1)} where id = 'later'`.execute(books.db)
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

const heightsMax = 12
const height = fc.integer({ min: 1, max: heightsMax })
const step = fc.oneof(
  fc.record({ kind: fc.constant('enrol' as const), count: fc.integer({ min: 1, max: 2 }), from: height }),
  fc.record({ kind: fc.constant('scan' as const), by: fc.integer({ min: 1, max: 4 }), hole: fc.boolean() }),
  fc.record({ kind: fc.constant('heal' as const), above: height, atMost: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('forget' as const), from: height, length: fc.integer({ min: 0, max: 4 }) }),
  fc.record({ kind: fc.constant('rewind' as const), above: height }),
  fc.record({ kind: fc.constant('assets' as const), count: fc.integer({ min: 1, max: 2 }) }),
  fc.record({ kind: fc.constant('by hand' as const), from: height, length: fc.integer({ min: 0, max: 4 }) }),
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

/** The same by brute force: for each address and height, with which assets it was read. */
class Model {
  froms: number[] = []
  addresses: string[] = []
  assets = 1
  cursor = 0
  read = new Map<string, number>()

  note(number: number, at: number): void {
    const key = `${number} ${at}`
    this.read.set(key, Math.max(this.assets, this.read.get(key) ?? 0))
  }
  forget(from: number, to: number): void {
    for (const number of this.froms.keys())
      for (let at = from; at <= to; at++) this.read.delete(`${number + 1} ${at}`)
  }
  missing(): string[] {
    const found: string[] = []
    for (const [place, from] of this.froms.entries())
      for (let at = from; at <= this.cursor; at++)
        if ((this.read.get(`${place + 1} ${at}`) ?? 0) < this.assets) found.push(`${place + 1} ${at}`)
    return found.toSorted()
  }
}

async function take(network: NetworkName, model: Model, one: Step): Promise<void> {
  const assets = both.slice(0, model.assets)
  const all = (from: number, to: number) => {
    for (const number of model.froms.keys()) for (let at = from; at <= to; at++) model.note(number + 1, at)
  }
  const watched = model.froms.length
  switch (one.kind) {
    case 'enrol': {
      const addresses = Array.from({ length: one.count }, (_, place) => `${watched + place}` as Address)
      await write((tx) => enrolAddresses(tx, network, { addresses, fromHeight: BigInt(one.from) }))
      model.froms.push(...addresses.map(() => one.from))
      return
    }
    case 'scan': {
      const from = model.cursor + 1 + (one.hole ? 1 : 0)
      const to = Math.min(heightsMax, model.cursor + one.by)
      model.cursor = Math.max(to, model.cursor)
      if (from <= to) await cover(network, { watched, from: BigInt(from), to: BigInt(to), assets })
      if (from <= to) all(from, to)
      break
    }
    case 'heal': {
      const gap = await nextGap(books.db, network, BigInt(one.above))
      if (gap === null) return
      const to = Math.min(Number(gap.to), Number(gap.from) + one.atMost - 1)
      await cover(network, { ...gap, to: BigInt(to) })
      for (const address of gap.addresses)
        for (let at = Number(gap.from); at <= to; at++) model.note(Number(address) + 1, at)
      return
    }
    case 'forget':
      await write((tx) =>
        withdrawCoverage(tx, network, { from: BigInt(one.from), to: BigInt(one.from + one.length) }),
      )
      model.forget(one.from, one.from + one.length)
      return
    case 'rewind':
      if (one.above > model.cursor) return
      model.cursor = one.above
      await write((tx) => withdrawCoverage(tx, network, { from: BigInt(one.above + 1), to: null }))
      model.forget(one.above + 1, heightsMax)
      break
    case 'assets':
      model.assets = one.count
      break
    case 'by hand': {
      const to = Math.min(model.cursor, one.from + one.length)
      if (one.from > to) return
      const stretch = { watched, from: BigInt(one.from), to: BigInt(to) }
      await cover(network, { ...stretch, assets })
      all(one.from, to)
      await write((tx) => watchFrom(tx, network, stretch))
      model.froms = model.froms.map((from) => (from > one.from && from <= to + 1 ? one.from : from))
    }
  }
  await stand(network, BigInt(model.cursor), both.slice(0, model.assets))
}

async function missingInStore(network: NetworkName): Promise<string[]> {
  const found = await sql<{ line: string }>`
    select concat_ws(' ', watch.number, height) as line
    from chain_gap gap
      join chain_watch watch on watch.network = gap.network and watch.from_height = gap.from_height
        and watch.number between gap.watched_from and gap.watched_to,
      unnest(gap.heights) stretch, generate_series(lower(stretch), upper(stretch) - 1) height
    where gap.network = ${network}`.execute(books.db)
  return found.rows.map(({ line }) => line).toSorted()
}

test('gaps are what a count of every address and height comes to, whatever happens in whatever order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 20, size: 'max' }), async (steps) => {
      const network = newNetwork()
      const model = new Model()
      for (const one of steps) {
        await take(network, model, one)
        expect(await missingInStore(network)).toEqual(model.missing())
      }
    }),
    { numRuns: 60 },
  )
})

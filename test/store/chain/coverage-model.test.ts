import * as fc from 'fast-check'
import { sql, type Transaction } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Address, NetworkName } from '../../../src/core/asset.ts'
import { enrolAddresses, watchFrom } from '../../../src/store/chain/chain-watch.ts'
import {
  addCoverage,
  type Coverage,
  nextGap,
  saveScanPosition,
  withdrawCoverage,
} from '../../../src/store/chain/coverage.ts'
import { inTransaction } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { usdcOnBase, usdtOnBase } from '../../support/evidence.ts'

let books: Books
beforeAll(async () => {
  books = await openBooks()
})
afterAll(() => books[Symbol.asyncDispose]())

const heightsMax = 12
const height = fc.integer({ min: 1, max: heightsMax })
const length = fc.integer({ min: 0, max: 4 })
const step = fc.oneof(
  fc.record({ kind: fc.constant('enrol' as const), count: fc.integer({ min: 1, max: 2 }), from: height }),
  fc.record({ kind: fc.constant('scan' as const), by: fc.integer({ min: 1, max: 4 }), hole: fc.boolean() }),
  fc.record({ kind: fc.constant('heal' as const), above: height, atMost: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constant('forget' as const), from: height, length }),
  fc.record({ kind: fc.constant('rewind' as const), above: height }),
  fc.record({ kind: fc.constant('assets' as const), count: fc.integer({ min: 1, max: 2 }) }),
  fc.record({ kind: fc.constant('by hand' as const), from: height, length }),
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never
type Of<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>

/** Beside the store, the same by brute force: for each address and height, with how many assets it was read. */
class World {
  readonly network: NetworkName
  /** The first height of each address; its number is its place and one. */
  froms: number[] = []
  assetCount = 1
  cursor = 0
  readonly read = new Map<string, number>()

  constructor(network: NetworkName) {
    this.network = network
  }

  get assets() {
    return [usdcOnBase, usdtOnBase].toSorted().slice(0, this.assetCount)
  }

  write<Result>(work: (tx: Transaction<Tables>) => Promise<Result>): Promise<Result> {
    return inTransaction(books.db, work)
  }

  async cover(numbers: readonly number[], { from, to }: { from: number; to: number }): Promise<void> {
    const proved = [{ from: BigInt(from), to: BigInt(to) }]
    const coverage: Coverage = { watched: this.froms.length, assets: this.assets, proved }
    await this.write((tx) => addCoverage(tx, this.network, coverage))
    for (const number of numbers)
      for (let place = from; place <= to; place++) {
        const key = `${number} ${place}`
        this.read.set(key, Math.max(this.assetCount, this.read.get(key) ?? 0))
      }
  }

  get everybody(): number[] {
    return this.froms.map((_from, place) => place + 1)
  }

  async forget(from: number, to: number | null): Promise<void> {
    const range = { from: BigInt(from), to: to === null ? null : BigInt(to) }
    await this.write((tx) => withdrawCoverage(tx, this.network, range))
    for (const key of this.read.keys()) {
      const place = Number(key.split(' ')[1])
      if (place >= from && place <= (to ?? heightsMax)) this.read.delete(key)
    }
  }

  missing(): string[] {
    return this.froms
      .flatMap((from, place) =>
        Array.from(
          { length: Math.max(0, this.cursor - from + 1) },
          (_, above) => `${place + 1} ${from + above}`,
        ),
      )
      .filter((key) => (this.read.get(key) ?? 0) < this.assetCount)
      .toSorted()
  }
}

const takers: { [Kind in Step['kind']]: (world: World, one: Of<Kind>) => Promise<void> } = {
  async enrol(world, { count, from }) {
    const known = world.froms.length
    const addresses = Array.from({ length: count }, (_, place) => `${known + place + 1}` as Address)
    await world.write((tx) => enrolAddresses(tx, world.network, { addresses, fromHeight: BigInt(from) }))
    world.froms.push(...addresses.map(() => from))
  },
  async scan(world, { by, hole }) {
    const from = world.cursor + 1 + (hole ? 1 : 0)
    const to = Math.min(heightsMax, world.cursor + by)
    world.cursor = Math.max(to, world.cursor)
    if (from <= to) await world.cover(world.everybody, { from, to })
  },
  async heal(world, { above, atMost }) {
    const gap = await nextGap(books.db, world.network, BigInt(above))
    if (gap === null) return
    expect({ watched: gap.watched, assets: gap.assets }).toEqual({
      watched: world.froms.length,
      assets: world.assets,
    })
    const from = Number(gap.from)
    await world.cover(gap.addresses.map(Number), { from, to: Math.min(Number(gap.to), from + atMost - 1) })
  },
  forget: (world, { from, length: more }) => world.forget(from, from + more),
  async rewind(world, { above }) {
    if (above > world.cursor) return
    world.cursor = above
    await world.forget(above + 1, null)
  },
  assets(world, { count }) {
    world.assetCount = count
    return Promise.resolve()
  },
  async 'by hand'(world, { from, length: more }) {
    const to = Math.min(world.cursor, from + more)
    if (from > to) return
    // As the command does: what was read there before counts no more.
    await world.forget(from, to)
    await world.cover(world.everybody, { from, to })
    const range = { from: BigInt(from), to: BigInt(to), watched: world.froms.length }
    await world.write((tx) => watchFrom(tx, world.network, range))
    world.froms = world.froms.map((first) => (first > from && first <= to + 1 ? from : first))
  },
}

async function take(world: World, one: Step): Promise<void> {
  await (takers[one.kind] as (world: World, one: Step) => Promise<void>)(world, one)
  const standing = { height: BigInt(world.cursor), assets: world.assets }
  await world.write((tx) => saveScanPosition(tx, world.network, standing))
}

async function missingInStore({ network }: World): Promise<string[]> {
  const found = await sql<{ line: string }>`
    select concat_ws(' ', watch.number, height) as line
    from chain_gap gap
      join chain_watch watch on watch.network = gap.network and watch.from_height = gap.from_height
        and watch.number between gap.watched_from and gap.watched_to,
      unnest(gap.heights) block_range, generate_series(lower(block_range), upper(block_range) - 1) height
    where gap.network = ${network}`.execute(books.db)
  return found.rows.map(({ line }) => line).toSorted()
}

test('gaps are what a count of every address and height comes to, whatever happens in whatever order', async () => {
  let made = 0
  const steps = fc.array(step, { minLength: 20, maxLength: 20, size: 'max' })
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      made += 1
      const world = new World(`net${made}` as NetworkName)
      for (const one of all) {
        await take(world, one)
        expect(await missingInStore(world)).toEqual(world.missing())
      }
    }),
    { numRuns: 60 },
  )
})

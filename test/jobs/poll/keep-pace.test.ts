import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JobName } from '../../../src/jobs/work.ts'
import { listedRecords } from '../../support/listed-records.ts'
import { type Listing, startListing } from '../../support/listing.ts'
import { openScriptedWork, type ScriptedWork } from '../../support/scripted-work.ts'

let stack: AsyncDisposableStack
let world: ScriptedWork
let listing: Listing

beforeEach(async () => {
  stack = new AsyncDisposableStack()
  world = stack.use(await openScriptedWork())
  listing = stack.use(await startListing({}))
  listing.pageMax = 100
  listing.records = listedRecords(400)
})
afterEach(() => stack.disposeAsync())

async function countPending(): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from inbox_pending`.execute(
    world.books.db,
  )
  return rows[0]?.count ?? 0
}

test('a list is read no faster than what it brings is applied', async () => {
  const waiting: number[] = []
  listing.before = async () => void waiting.push(await countPending())
  const runs: Promise<void>[] = []
  const wake = (job: JobName) => Promise.resolve(void (job === 'apply' && runs.push(work.apply())))
  const work = world.work({ client: listing.client, wake })
  await work.poll()
  await Promise.all(runs)
  expect(waiting.length).toBeGreaterThan(4)
  expect(Math.max(...waiting)).toBeLessThanOrEqual(100)
})

test('where nothing is applied it is read all the same, and where nothing is new nothing is waited for', async () => {
  const work = world.work({ client: listing.client, cadence: { youngMs: 0, quietMs: 0 } })
  await work.poll()
  expect(await countPending()).toBe(400)
  // After each page.
  expect(world.told).toEqual(Array.from({ length: 4 }, () => 'wake apply'))
  await work.poll()
  expect(world.told).toHaveLength(4)
})

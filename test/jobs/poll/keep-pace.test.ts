import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { keepPace } from '../../../src/jobs/poll/poll.ts'
import type { JobName } from '../../../src/jobs/work.ts'
import { listedRecords } from '../../support/listed-records.ts'
import { type Listing, startListing } from '../../support/listing.ts'
import { ofDefault, openScriptedWork, type ScriptedWork } from '../../support/scripted-work.ts'

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

test('what a page brings is applied before the next page is read', async () => {
  const waiting: number[] = []
  listing.before = async () => void waiting.push(await countPending())
  const wake = (job: JobName) => (job === 'apply' ? work.apply() : Promise.resolve())
  const work = world.work({ clients: ofDefault(listing.client), wake })
  await work.poll('default')
  expect(waiting.length).toBeGreaterThan(4)
  expect(Math.max(...waiting)).toBe(0)
})

test('applying, which goes on beside, is waited for', async () => {
  const work = world.work({ clients: ofDefault(listing.client) })
  await work.poll('default')
  let applying = Promise.resolve()
  const wake = () => Promise.resolve(void (applying = sleep(50).then(work.apply)))
  await keepPace({ db: world.books.db, wake }, 60_000)
  expect(await countPending()).toBeLessThanOrEqual(100)
  await applying
})

test('where nothing is applied it is read all the same, and where nothing is new nothing is waited for', async () => {
  const work = world.work({ clients: ofDefault(listing.client), youngMs: 0, quietMs: 0 })
  await work.poll('default')
  expect(await countPending()).toBe(400)
  // After each page.
  expect(world.reported).toEqual(Array.from({ length: 4 }, () => 'wake apply'))
  await work.poll('default')
  expect(world.reported).toHaveLength(4)
})

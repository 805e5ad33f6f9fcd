import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ChainTransfer, HeightRange, RangeRequest, RangeResult } from '../../../src/chain/types.ts'
import type { Address } from '../../../src/core/asset.ts'
import { type BackfillDeps, createBackfill } from '../../../src/jobs/chain/backfill.ts'
import { scanStream } from '../../../src/jobs/chain/scan-position.ts'
import { enrolAddresses } from '../../../src/store/chain/chain-watch.ts'
import { addCoverage, saveScanPosition, withdrawCoverage } from '../../../src/store/chain/coverage.ts'
import { isReadingHistory, readHistory } from '../../../src/store/chain/history.ts'
import { inTransaction } from '../../../src/store/database.ts'
import { moveCursor, seizeLease, takeLease } from '../../../src/store/streams.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at, base, channelAddress, payment, usdcOnBase, walletAddress } from '../../support/evidence.ts'

let books: Books
let deps: BackfillDeps
let now: Date
const asked: RangeRequest[] = []
const reported: string[] = []

/** Two addresses, of which the second came later; the network is read up to 40. */
beforeEach(async () => {
  books = await openBooks()
  now = at(0)
  asked.length = 0
  reported.length = 0
  deps = {
    db: books.db,
    holder: 'me',
    leaseMs: 600_000,
    assets: new Map([[base, [usdcOnBase]]]),
    now: () => now,
    observe: {
      mismatches: (all) => void reported.push(...all.map(({ kind, change }) => `${kind} ${change}`)),
    },
  }
  await enrol(channelAddress, 1n)
  await cover({ from: 1n, to: 40n })
  await enrol(walletAddress, 11n)
  await inTransaction(books.db, (tx) => saveScanPosition(tx, base, { assets: [usdcOnBase], height: 40n }))
})
afterEach(() => books[Symbol.asyncDispose]())

const enrol = (address: Address, fromHeight: bigint) =>
  inTransaction(books.db, (tx) => enrolAddresses(tx, base, { addresses: [address], fromHeight }))
const cover = (range: HeightRange) =>
  inTransaction(books.db, (tx) =>
    addCoverage(tx, base, { watched: 1, assets: [usdcOnBase], proved: [range] }),
  )

const nothing = { transfers: [], movements: [], dissent: [] }

/** Reads ten heights at once. */
function reader(result: (request: RangeRequest) => Partial<RangeResult> = () => ({})) {
  return {
    network: base,
    readRange: (request: RangeRequest): Promise<RangeResult> => {
      asked.push(request)
      const reached = request.to < request.from + 9n ? request.to : request.from + 9n
      const proved = [{ from: request.from, to: reached }]
      return Promise.resolve({ ...nothing, reached, proved, ...result(request) })
    },
  }
}

const ranges = () => asked.map(({ from, to }) => `${from} to ${to}`)

async function gaps(): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', from_height, to_height) as line from accounting.coverage_gaps
    order by from_height`.execute(books.db)
  return rows.map(({ line }) => line)
}

async function chainTransfers(): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', stage, height) as line from chain_transfer order by inbox_id`.execute(books.db)
  return rows.map(({ line }) => line)
}

function transfer(changes: Partial<ChainTransfer> = {}): ChainTransfer {
  const { kind: _kind, stage: _stage, role: _role, epoch: _epoch, receivedAt: _at, ...facts } = payment()
  return { ...facts, to: walletAddress, height: 12n, ...changes }
}

/** As a scan leaves it; `epoch` tells how often history has changed. */
async function scannedIn(epoch: number): Promise<void> {
  const stream = scanStream(base)
  const lease = await takeLease(books.db, { stream, holder: 'scanner', ttlMs: 600_000 })
  if (lease === null) throw new Error('nobody else scans')
  const cursor = { final: { height: '40', hash: '0x40' }, seenHeight: '40', trail: [], epoch }
  await inTransaction(books.db, (tx) => moveCursor(tx, lease, { cursor, progress: {} }))
}

const found = (request: RangeRequest) => (request.from === 11n ? { transfers: [transfer()] } : {})

test('an address that came later is read, it alone, from its first height up to the cursor', async () => {
  const backfill = createBackfill(deps)
  expect(await backfill(reader(found))).toEqual({ stored: 1, more: false })
  expect(ranges()).toEqual(['11 to 40', '21 to 40', '31 to 40'])
  expect(asked.map(({ watched }) => [...watched])).toEqual([
    [walletAddress],
    [walletAddress],
    [walletAddress],
  ])
  expect(await gaps()).toEqual([])
  expect(await chainTransfers()).toEqual(['final 12'])
  expect(await backfill(reader())).toEqual({ stored: 0, more: false })
  expect(asked).toHaveLength(3)
})

test('a run is bounded, and the next one goes on where it stopped', async () => {
  const backfill = createBackfill(deps)
  const slow = reader(({ from }) => ({ reached: from, proved: [{ from, to: from }] }))
  expect(await backfill(slow)).toMatchObject({ more: true })
  expect(await gaps()).toEqual(['31 40'])
  expect(await backfill(slow)).toMatchObject({ more: false })
  expect(await gaps()).toEqual([])
  expect(asked).toHaveLength(30)
})

test('how far it is, and what it took, is known until nothing is left and after that', async () => {
  const backfill = createBackfill(deps)
  const slow = reader(({ from }) => {
    now = new Date(now.getTime() + 1000)
    return { reached: from, proved: [{ from, to: from }] }
  })
  expect(await readHistory(books.db)).toMatchObject([{ missing: 30n, requests: null, secondsLeft: null }])
  await backfill(slow)
  const [half] = await readHistory(books.db)
  expect(half).toMatchObject({ network: base, from: 1n, to: 40n, missing: 10n, requests: 0 })
  expect(half?.secondsLeft).toBeGreaterThan(0)
  expect(await isReadingHistory(books.db, base)).toBe(true)
  await backfill(slow)
  expect(await readHistory(books.db)).toMatchObject([{ missing: 0n, requests: 0, secondsLeft: null }])
  expect(await isReadingHistory(books.db, base)).toBe(false)
})

test('overdue transfers are searched for again once no height is missing above them', async () => {
  await sql`insert into leg_search (service_id, role, network, address, from_at, next_at)
    values ('default/dep_1', 'deposit', ${base}, ${walletAddress}, now(), now() + interval '1 hour')`.execute(
    books.db,
  )
  const isDue = async () =>
    (await sql`select from leg_search where next_at <= now()`.execute(books.db)).rows.length > 0
  const backfill = createBackfill(deps)
  const slow = reader(({ from }) => ({ reached: from, proved: [{ from, to: from }] }))
  await backfill(slow)
  expect(await isDue()).toBe(false)
  await backfill(slow)
  expect(await isDue()).toBe(true)
})

test('a stretch that cannot be read keeps none above it waiting, and is tried again', async () => {
  await cover({ from: 1n, to: 40n })
  await inTransaction(books.db, (tx) =>
    addCoverage(tx, base, { watched: 2, assets: [usdcOnBase], proved: [{ from: 16n, to: 30n }] }),
  )
  let isPruned = true
  const pruned = reader(({ from }) => {
    if (from < 20n && isPruned) throw new Error('the node has no such block')
    return {}
  })
  const backfill = createBackfill(deps)
  await expect(backfill(pruned)).rejects.toThrow('no such block')
  expect(await backfill(pruned)).toMatchObject({ more: false })
  expect(await gaps()).toEqual(['11 15'])
  isPruned = false
  expect(await backfill(pruned)).toMatchObject({ more: false })
  expect(await gaps()).toEqual([])
})

test('what a reading leaves out stays a gap; what is above it is read', async () => {
  const leaving = reader(({ from }) =>
    from === 11n
      ? {
          proved: [
            { from, to: 14n },
            { from: 16n, to: 20n },
          ],
          reached: 20n,
        }
      : {},
  )
  expect(await createBackfill(deps)(leaving)).toMatchObject({ more: false })
  expect(await gaps()).toEqual(['15 15'])
})

test('a node that has not come that far closes no gap, and ends no run for ever', async () => {
  const behind = reader(({ from }) => ({ reached: from - 1n, proved: [] }))
  expect(await createBackfill(deps)(behind)).toMatchObject({ more: false })
  expect(await gaps()).toEqual(['11 40'])
})

test('a gap that stays for an hour is a mismatch, until it is closed', async () => {
  const failing = reader(() => {
    throw new Error('away')
  })
  const backfill = createBackfill(deps)
  for (const minutes of [0, 59]) {
    now = at(minutes)
    await expect(backfill(failing)).rejects.toThrow('away')
    await backfill(failing)
  }
  expect(reported).toEqual([])
  now = at(60)
  await expect(backfill(failing)).rejects.toThrow('away')
  expect(reported).toEqual(['coverage_gap opened'])
  const { rows } = await sql`select subject, detail from mismatch where cleared_at is null`.execute(books.db)
  const since = at(0).toISOString()
  expect(rows).toEqual([
    { subject: 'network/base', detail: { heights: '11 to 40', ranges: '1', addresses: '1', since } },
  ])
  await backfill(failing)
  await backfill(reader())
  expect(reported).toEqual(['coverage_gap opened', 'coverage_gap cleared'])
})

test('an asset that the settings add is read for all addresses, from the first height on', async () => {
  const assets = [`base/0x${'0'.repeat(40)}` as typeof usdcOnBase, usdcOnBase]
  await inTransaction(books.db, (tx) =>
    saveScanPosition(tx, base, { assets: assets.toSorted(), height: 40n }),
  )
  expect(await createBackfill(deps)(reader())).toMatchObject({ more: false })
  expect(asked, 'by a process whose settings have it').toEqual([])
  deps = { ...deps, assets: new Map([[base, assets]]) }
  await createBackfill(deps)(reader())
  expect(ranges().slice(0, 2)).toEqual(['1 to 10', '11 to 40'])
  expect(asked.map(({ watched }) => watched.size)).toEqual([1, 2, 2, 2])
  expect(await gaps()).toEqual([])
})

test('what was read while history changed is neither stored nor counted as read', async () => {
  await scannedIn(0)
  const changing = {
    network: base,
    readRange: async (request: RangeRequest): Promise<RangeResult> => {
      await scannedIn(1)
      return reader(() => ({ transfers: [transfer()] })).readRange(request)
    },
  }
  await createBackfill(deps)(changing)
  expect(await chainTransfers()).toEqual([])
  expect(await gaps()).toEqual(['11 40'])
  await createBackfill(deps)(reader(({ from }) => (from === 11n ? { transfers: [transfer()] } : {})))
  expect(await chainTransfers()).toEqual(['final 12'])
})

test('while somebody else reads stretches nothing is read, and who lost that right stores nothing', async () => {
  const stream = 'backfill/base'
  const slow = {
    network: base,
    readRange: async (request: RangeRequest): Promise<RangeResult> => {
      await seizeLease(books.db, { stream, holder: 'a person', ttlMs: 600_000 })
      return reader(() => ({ transfers: [transfer()] })).readRange(request)
    },
  }
  const backfill = createBackfill(deps)
  await expect(backfill(slow)).rejects.toMatchObject({ code: 'lease_lost' })
  expect(await chainTransfers()).toEqual([])
  expect(await backfill(slow)).toBeNull()
})

test('a reading that proves what it was not asked for is broken: nothing is stored', async () => {
  const broken = reader(({ from }) => ({ proved: [{ from: from - 1n, to: from }] }))
  await expect(createBackfill(deps)(broken)).rejects.toThrow('invariant broken')
  expect(await gaps()).toEqual(['11 40'])
})

test('ten processes at once read each height once', async () => {
  const runs = Array.from({ length: 10 }, (_, place) =>
    createBackfill({ ...deps, holder: `holder ${place}` })(reader(() => ({ transfers: [transfer()] }))),
  )
  const done = (await Promise.all(runs)).filter((one) => one !== null)
  expect(done).toEqual([{ stored: 1, more: false }])
  expect(ranges()).toEqual(['11 to 40', '21 to 40', '31 to 40'])
})

test('a stretch that somebody marks as not read is read again', async () => {
  await createBackfill(deps)(reader())
  await inTransaction(books.db, (tx) => withdrawCoverage(tx, base, { from: 5n, to: 14n }))
  asked.length = 0
  await createBackfill(deps)(reader())
  expect(ranges()).toEqual(['5 to 10', '11 to 14'])
  expect(asked.map(({ watched }) => watched.size)).toEqual([1, 2])
  expect(await gaps()).toEqual([])
})

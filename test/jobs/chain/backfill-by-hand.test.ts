import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { createReader } from '../../../src/chain/reader.ts'
import type { Address } from '../../../src/core/asset.ts'
import { createBackfill } from '../../../src/jobs/chain/backfill.ts'
import {
  type BackfillProgress,
  type BackfillReport,
  backfillByHand,
} from '../../../src/jobs/chain/backfill-by-hand.ts'
import { type NetworkReader, type ScanDeps, scanNetwork } from '../../../src/jobs/chain/scan.ts'
import { saveOwner } from '../../../src/store/owners.ts'
import { takeLease } from '../../../src/store/streams.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { base, channelAddress } from '../../support/evidence.ts'
import { evmSettings } from '../../support/evm-watch.ts'
import { run } from '../../support/postgres.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'

let anvil: Anvil
let token: TestToken
let books: Books
let reader: NetworkReader
let deps: ScanDeps
const reported: BackfillProgress[] = []

beforeAll(async () => {
  anvil = await startAnvil()
  token = await deployToken(anvil, 'TKN')
})
afterAll(() => anvil.stop())
beforeEach(async () => {
  books = await openBooks()
  reported.length = 0
  readFrom(anvil, token)
})
afterEach(() => books[Symbol.asyncDispose]())

function readFrom(chain: Anvil, coin: TestToken, blocksPerScan = 500n): void {
  const settings = evmSettings(chain, { tokens: [coin.address] })
  reader = createReader(settings, { bounds: { blocksPerScan } })
  deps = {
    db: books.db,
    holder: 'daemon',
    leaseMs: 600_000,
    startHeights: new Map([[base, 1n]]),
    assets: new Map([[base, settings.assets.map(({ key }) => key)]]),
    now: () => new Date(),
  }
}

async function scanAll(): Promise<void> {
  while ((await scanNetwork(deps, reader))?.more) continue
}

const heal = () => createBackfill({ ...deps, observe: { mismatches: () => undefined } })(reader)

const report = (progress: BackfillProgress) => void reported.push(progress)

function byHand(from: bigint, to: bigint | null = null): Promise<BackfillReport> {
  return backfillByHand({ ...deps, holder: 'a person' }, reader, { requested: { from, to }, report })
}

/** Pays and lets it become final; the height of its block. */
async function pay(to: string, amount: bigint, [chain, coin]: [Anvil, TestToken] = [anvil, token]) {
  await coin.send(to as `0x${string}`, amount)
  await chain.mine()
  const height = await chain.client.getBlockNumber()
  await chain.mine(3)
  return height
}

/** The daemon takes the stream of the scan as soon as a person gives it back. */
async function takeWhatIsGivenBack(): Promise<void> {
  await run(
    books.url,
    `create function take() returns trigger language plpgsql as $$
      begin new.holder := 'daemon'; new.expires_at := now() + interval '1 minute'; return new; end $$;
    create trigger take before update on stream for each row
      when (old.holder = 'a person' and new.holder is null) execute function take()`,
  )
}

async function gaps(): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', from_height, to_height, addresses) as line from accounting.coverage_gaps
    order by 1`.execute(books.db)
  return rows.map(({ line }) => line)
}

async function chainTransfers(): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', stage, height) as line from chain_transfer
    where stage <> 'seen' order by inbox_id`.execute(books.db)
  return rows.map(({ line }) => line)
}

let made = 0

/** A wallet with a deposit address that came into the book when the chain was already being read. */
async function addWallet(createdAt: Date): Promise<Address> {
  made += 1
  const address = `0x${made.toString(16).padStart(40, 'a')}` as Address
  const id = `late ${made}`
  await saveOwner(books.db, {
    owner: { kind: 'stable_wallet', id },
    deposits: [{ network: base, address }],
    forward: null,
    createdAt,
  })
  return address
}

test('a payment from before its address came into the book is found, and coverage says so', async () => {
  await scanAll()
  const { timestamp } = await anvil.client.getBlock()
  made += 1
  const early = `0x${made.toString(16).padStart(40, 'a')}`
  made -= 1
  const height = await pay(early, 5n)
  await scanAll()
  expect(await gaps()).toEqual([])
  expect(await addWallet(new Date(Number(timestamp) * 1000))).toBe(early)
  await scanAll()
  expect(await chainTransfers()).toEqual([])
  expect(await gaps()).toHaveLength(1)
  await heal()
  expect(await chainTransfers()).toEqual([`final ${height}`])
  expect(await gaps()).toEqual([])
  const { rows } = await sql`
    select address from accounting.coverage where missing_heights > 0`.execute(books.db)
  expect(rows).toEqual([])
})

test('what was overlooked is found by a person who has the heights read again, with progress', async () => {
  const height = await pay(channelAddress, 7n)
  const blind: NetworkReader = {
    ...reader,
    scan: async (request) => ({ ...(await reader.scan(request)), transfers: [] }),
  }
  while ((await scanNetwork(deps, blind))?.more) continue
  const { finalHeight } = (await scanNetwork(deps, blind)) ?? { finalHeight: 0n }
  readFrom(anvil, token, 2n)
  const result = await byHand(height - 3n, height + 1n)
  expect(result).toMatchObject({
    outcome: 'read',
    from: height - 3n,
    to: height + 1n,
    complete: true,
    stored: 1,
  })
  expect(result.news).toMatchObject([{ height, to: channelAddress, amount: 7n, stage: 'final' }])
  expect(reported.map(({ reached }) => reached)).toEqual([height - 2n, height, height + 1n])
  expect(reported.at(-1)).toMatchObject({ to: height + 1n, stored: 1 })
  expect(await byHand(height)).toMatchObject({ outcome: 'read', to: finalHeight, stored: 0 })
  expect(await gaps()).toEqual([])
})

test('a person need not wait for the daemon, and a command that was interrupted leaves a gap that heals', async () => {
  await pay(channelAddress, 8n)
  await scanAll()
  await takeLease(books.db, { stream: 'backfill/base', holder: 'daemon', ttlMs: 600_000 })
  const cut: NetworkReader = { ...reader, readRange: () => Promise.reject(new Error('interrupted')) }
  const wanted = { requested: { from: 2n, to: 3n }, report: () => undefined }
  await expect(backfillByHand({ ...deps, holder: 'a person' }, cut, wanted)).rejects.toThrow('interrupted')
  expect(await gaps()).toEqual(['2 3 2'])
  expect(await heal()).toMatchObject({ more: false })
  expect(await gaps()).toEqual([])
})

test('scans go on while a person has heights read again', async () => {
  await scanAll()
  let scanned: unknown = null
  const watching: NetworkReader = {
    ...reader,
    readRange: async (request) => {
      scanned = await scanNetwork(deps, reader)
      return reader.readRange(request)
    },
  }
  const wanted = { requested: { from: 2n, to: null }, report: () => undefined }
  expect(await backfillByHand({ ...deps, holder: 'a person' }, watching, wanted)).toMatchObject({
    outcome: 'read',
    complete: true,
  })
  expect(scanned).not.toBeNull()
})

test('heights below the first one are read by hand, and are wanted from then on', async () => {
  const height = await pay(channelAddress, 9n)
  deps = { ...deps, startHeights: new Map([[base, height + 1n]]) }
  await scanAll()
  expect(await chainTransfers()).toEqual([])
  expect(await byHand(height - 1n, height)).toMatchObject({ stored: 1, complete: true })
  const { rows } = await sql`select distinct from_height from chain_watch`.execute(books.db)
  expect(rows).toEqual([{ from_height: height - 1n }])
})

test('a network whose history was lost is read on where a person says, on the chain as it is now', async () => {
  const lost = await pay(channelAddress, 11n)
  await scanAll()
  expect(await chainTransfers()).toContain(`final ${lost}`)
  const anew = await startAnvil()
  try {
    const coin = await deployToken(anew, 'TKN')
    await anew.mine(Number(await anvil.client.getBlockNumber()) + 5)
    const height = await pay(channelAddress, 12n, [anew, coin])
    readFrom(anew, coin)
    await expect(scanNetwork(deps, reader)).rejects.toMatchObject({ code: 'history_lost' })
    await takeWhatIsGivenBack()
    await expect(byHand(10_000n)).rejects.toThrow(/has been read as final only up to \d+/)
    const result = await byHand(1n)
    expect(result).toMatchObject({ outcome: 'resumed', from: 1n, complete: true })
    expect(result.news.map((one) => `${one.stage} ${one.height}`)).toEqual(
      expect.arrayContaining([`orphaned ${lost}`, `final ${height}`]),
    )
    expect(reported.length).toBeGreaterThan(0)
    const gone = (await chainTransfers()).filter((one) => one.startsWith('orphaned'))
    expect((await chainTransfers()).filter((one) => one.startsWith('final'))).toHaveLength(gone.length + 1)
    const { rows } = await sql`
      select heights = int8multirange(int8range(1, height + 1)) as whole from chain_coverage
        join chain_network using (network)`.execute(books.db)
    expect(rows).toEqual([{ whole: true }])
    expect(await scanNetwork(deps, reader)).toMatchObject({ rewound: false, stored: 0 })
  } finally {
    await anew.stop()
  }
})

test.each([
  [5n, 4n, '--from 5 is above --to 4'],
  [1n, 1_000_000n, 'has been read as final only up to'],
  [1_000_000n, null, 'has been read as final only up to'],
])('heights from %s to %s are refused', async (from, to, problem) => {
  await scanAll()
  await expect(byHand(from, to)).rejects.toThrow(problem)
})

test('a network that has not been read yet is refused', async () => {
  await expect(byHand(1n)).rejects.toThrow('base has not been read yet')
})

import * as fc from 'fast-check'
import { sql } from 'kysely'
import { createPublicClient, erc20Abi, http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createReader } from '../../../src/chain/reader.ts'
import type { Address } from '../../../src/core/asset.ts'
import { createBackfill } from '../../../src/jobs/chain/backfill.ts'
import { backfillByHand } from '../../../src/jobs/chain/backfill-by-hand.ts'
import { type ScanDeps, scanNetwork } from '../../../src/jobs/chain/scan.ts'
import { readScanPosition } from '../../../src/store/chain/coverage.ts'
import { saveOwner } from '../../../src/store/owners.ts'
import { notCovered } from '../../oracle/chain-coverage.ts'
import { type Anvil, startAnvil } from '../../support/anvil.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { base } from '../../support/evidence.ts'
import { evmSettings } from '../../support/evm-watch.ts'
import { deployToken, type TestToken } from '../../support/test-token.ts'

let anvil: Anvil
let tokens: TestToken[]

beforeAll(async () => {
  anvil = await startAnvil()
  tokens = [await deployToken(anvil, 'ONE'), await deployToken(anvil, 'TWO')]
})
afterAll(() => anvil.stop())

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pay' as const), wallet: fc.nat(), token: fc.nat(1) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 6 }) }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('scan' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('heal' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('make' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('keep' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 5 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('by hand' as const), length: fc.integer({ min: 0, max: 9 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('assets' as const), count: fc.integer({ min: 1, max: 2 }) }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never
type Of<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>

type Wallet = { address: Address; createdAt: Date; kept: boolean }
/** Reading begins at block `from`. */
type World = { books: Books; wallets: Wallet[]; assetCount: number; from: bigint }

let made = 0

function readerOf({ books, assetCount, from }: World) {
  const addresses = tokens.slice(0, assetCount).map(({ address }) => address)
  const settings = evmSettings(anvil, { tokens: addresses, native: false })
  const deps: ScanDeps = {
    db: books.db,
    holder: 'daemon',
    leaseMs: 600_000,
    startHeights: new Map([[base, from]]),
    assets: new Map([[base, settings.assets.map(({ key }) => key)]]),
    now: () => new Date(),
  }
  return { deps, reader: createReader(settings, { bounds: { blocksPerScan: 5n } }) }
}

async function scan(world: World): Promise<void> {
  const { deps, reader } = readerOf(world)
  while ((await scanNetwork(deps, reader))?.more) continue
}

async function heal(world: World): Promise<void> {
  const { deps, reader } = readerOf(world)
  const backfill = createBackfill({ ...deps, observe: { mismatches: () => undefined } })
  while ((await backfill(reader))?.more) continue
}

/** Comes into the address book, some time after it was made. */
async function keep({ books }: World, wallet: Wallet): Promise<void> {
  wallet.kept = true
  await saveOwner(books.db, {
    owner: { kind: 'stable_wallet', id: wallet.address },
    deposits: [{ network: base, address: wallet.address }],
    forward: null,
    createdAt: wallet.createdAt,
  })
}

const takers: { [Kind in Step['kind']]: (world: World, one: Of<Kind>) => Promise<void> } = {
  async pay({ wallets }, { wallet, token }) {
    const to = wallets[wallet % Math.max(1, wallets.length)]?.address
    if (to === undefined) return
    await tokens[token]?.send(to as `0x${string}`, 5n)
    await anvil.mine()
  },
  mine: (_world, { blocks }) => anvil.mine(blocks),
  scan,
  heal,
  async make({ wallets }) {
    made += 1
    const { timestamp } = await anvil.client.getBlock()
    const address = `0x${made.toString(16).padStart(40, 'a0')}` as Address
    wallets.push({ address, createdAt: new Date(Number(timestamp) * 1000), kept: false })
  },
  async keep(world) {
    const wallet = world.wallets.find(({ kept }) => !kept)
    if (wallet !== undefined) await keep(world, wallet)
  },
  reorg: (_world, { depth }) => anvil.reorg(depth),
  async 'by hand'(world, { length }) {
    const { deps, reader } = readerOf(world)
    const to = (await readScanPosition(world.books.db, base))?.height
    if (to === undefined || to < BigInt(length) + 1n) return
    const wanted = { requested: { from: to - BigInt(length), to }, report: () => undefined }
    await backfillByHand({ ...deps, holder: 'a person' }, reader, wanted)
  },
  assets(world, { count }) {
    world.assetCount = count
    return Promise.resolve()
  },
}

/** Final payments to the wallets, as the chain itself lists them. */
async function paid({ wallets, assetCount, from }: World): Promise<string[]> {
  const client = createPublicClient({ transport: http(anvil.url) })
  const addresses = new Set<string>(wallets.map(({ address }) => address))
  const logs = await client.getContractEvents({
    address: tokens.slice(0, assetCount).map(({ address }) => address),
    abi: erc20Abi,
    eventName: 'Transfer',
    fromBlock: from,
    toBlock: 'finalized',
  })
  return logs
    .filter(({ args }) => addresses.has(args.to?.toLowerCase() ?? ''))
    .map(({ transactionHash, logIndex, blockNumber }) => `${transactionHash}/${logIndex} ${blockNumber}`)
    .toSorted()
}

/** What stands, by the last word about each transfer of the assets that are read. */
async function standing({ books, assetCount }: World): Promise<string[]> {
  const addresses = tokens.slice(0, assetCount).map(({ address }) => `base/${address.toLowerCase()}`)
  const { rows } = await sql<{ line: string }>`
    select split_part(transfer, '/', 2) || '/' || split_part(transfer, '/', 3) || ' ' || height as line
    from (
      select distinct on (transfer) transfer, stage, height, asset from chain_transfer
      where stage <> 'seen' order by transfer, inbox_id desc
    ) last
    where stage = 'final' and asset = any(${addresses}::text[])`.execute(books.db)
  return rows.map(({ line }) => line).toSorted()
}

test('whatever happens in whatever order, every payment is found in the end, and only what is on the chain', async () => {
  const steps = fc.array(step, { minLength: 25, maxLength: 25, size: 'max' })
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      await using books = await openBooks()
      // Enough is remembered by then to find every change of history.
      await anvil.mine(30)
      const from = (await anvil.client.getBlock({ blockTag: 'finalized' })).number - 20n
      const world: World = { books, wallets: [], assetCount: 1, from }
      await scan(world)
      for (const one of all)
        await (takers[one.kind] as (world: World, one: Step) => Promise<void>)(world, one)
      for (const wallet of world.wallets) if (!wallet.kept) await keep(world, wallet)
      await anvil.mine(8)
      await scan(world)
      await heal(world)
      expect((await sql.raw(notCovered).execute(books.db)).rows).toEqual([])
      expect(await standing(world)).toEqual(await paid(world))
    }),
    { numRuns: 12, endOnFailure: true },
  )
})

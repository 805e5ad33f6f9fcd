import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AssetKey, NetworkName } from '../../../src/core/asset.ts'
import { pinAssets } from '../../../src/store/assets.ts'
import { openDatabase } from '../../../src/store/database.ts'
import type { Tables } from '../../../src/store/tables.ts'
import { type Books, makeDeposit, openBooks } from '../../support/books.ts'
import { type DoctorWorld, openDoctorWorld, startNode } from '../../support/doctor-world.ts'
import { seal } from '../../support/sealed-books.ts'

const stack = new AsyncDisposableStack()
let books: Books
let world: DoctorWorld

beforeAll(async () => {
  books = stack.use(await openBooks())
  await seal(books)
  world = await openDoctorWorld(books.url, stack)
})
afterAll(() => stack.disposeAsync())

const usdc = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'

/** Settings with USDC on Base. */
async function withToken(decimals: string, work: (changes: Record<string, string>) => Promise<void>) {
  const path = join(world.folder, 'token.yaml')
  writeFileSync(
    path,
    `networks: [{ name: base, family: evm, chainId: 8453, assets: [{ symbol: USDC, contract: "${usdc}" ${decimals}}] }]`,
  )
  await work({ DEPOSITD_CONFIG: path })
}

test('decimals that the settings leave to the chain are read and told', async () => {
  await withToken('', async (changes) => {
    const { out, status } = await world.run(changes)
    expect(out).toMatch(/^chain base +ok .*; USDC has 6 decimals, stored at the first start$/m)
    expect(status).toBe(0)
  })
})

test('decimals that are not those of the chain, or not those that amounts were kept by, are faults', async () => {
  await using others = await openBooks()
  await pinUsdc(others.url, 18)
  await withToken(', decimals: 7', async (changes) => {
    const { out, status } = await world.run({ ...changes, DATABASE_URL: others.url })
    expect(out).toMatch(
      /^chain base +fault +asset base\/0x\w+ has 7 decimals in the settings and 18 in the database +set the decimals in DEPOSITD_CONFIG/m,
    )
    expect(out).toMatch(/^chain base +fault +.*expected decimals 7, found 6/m)
    expect(status).toBe(1)
  })
  await withToken('', async (changes) => {
    const { out } = await world.run({ ...changes, DATABASE_URL: others.url })
    expect(out).toMatch(/^chain base +fault +.*expected decimals 18, found 6/m)
  })
})

/** As a number that a deposit was kept by. */
async function pinUsdc(url: string, decimals: number): Promise<void> {
  const db = openDatabase<Tables>({ url, poolMax: 1, applicationName: 'test owner' })
  const key = `base/${usdc}` as AssetKey
  await pinAssets(db, [{ key, network: 'base' as NetworkName, symbol: 'USDC', decimals }])
  const id = await makeDeposit(db, 'base/0x1/0')
  await db.updateTable('deposit').set({ asset: key }).where('id', '=', id).execute()
  await db.destroy()
}

test('a node of another chain is a fault, wherever in the list it is', async () => {
  await using other = await startNode('0x1')
  const says = await world.says('chain base', { RPC_BASE: `${world.environment.RPC_BASE},${other.url}` })
  expect(says).toEqual([
    expect.stringMatching(
      /^fault \| .*expected chain id 8453, found 1.* \| set RPC_BASE to nodes of that chain/,
    ),
  ])
})

test('of several nodes one that does not answer is warned of', async () => {
  const says = await world.says('chain base', {
    RPC_BASE: `http://127.0.0.1:1,${world.environment.RPC_BASE}`,
  })
  expect(says).toEqual([
    expect.stringMatching(
      /^warning \| .*; the other nodes are used \| start that server, or correct host and port in RPC_BASE/,
    ),
    expect.stringMatching(/^ok \| serves the chain and assets of the settings/),
  ])
})

test('balances of a database that does not answer are a fault in the table, beside the others', async () => {
  await withToken('', async (changes) => {
    const away = { DATABASE_URL: 'postgres://x@127.0.0.1:1/x', QUEUE_URL: 'redis://127.0.0.1:1' }
    const { out, status } = await world.run({ ...changes, ...away }, ' --balances')
    expect(out).toMatch(/^balances +fault +.*fix what the check database reports/m)
    expect(out).toMatch(/^service +ok /m)
    expect(status).toBe(1)
  })
})

test('a node that does not tell what is final is not told to be behind', async () => {
  await using silent = await startNode('0x2105', { eth_getBlockByNumber: null })
  expect(await world.says('final base', { RPC_BASE: silent.url })).toEqual([
    expect.stringMatching(/^fault \| .* \| try again; if it persists, use other nodes in RPC_BASE/),
  ])
})

test('a node that knows less as final than was read is a fault', async () => {
  const hash = `0x${'1'.padStart(64, '0')}`
  const at = (height: string) => {
    const cursor = JSON.stringify({ final: { height, hash }, seenHeight: height, trail: [], epoch: 0 })
    return sql`
      insert into stream (name, cursor) values ('scan/base', ${cursor}::jsonb)
      on conflict (name) do update set cursor = excluded.cursor`.execute(books.db)
  }
  await at('1')
  expect(await world.says('final base')).toEqual(['ok | height 1; read up to 1'])
  await at('7')
  expect(await world.says('final base')).toEqual([
    expect.stringMatching(
      /^fault \| height 1 is below 7, which was already read as final \| put another node first/,
    ),
  ])
})

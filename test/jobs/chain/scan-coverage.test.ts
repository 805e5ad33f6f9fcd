import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ScanRequest } from '../../../src/chain/types.ts'
import type { Address } from '../../../src/core/asset.ts'
import { rescanNetwork, type ScanDeps, type ScanReport, scanNetwork } from '../../../src/jobs/chain/scan.ts'
import { saveOwner } from '../../../src/store/owners.ts'
import { type Books, openBooks } from '../../support/books.ts'
import { at, base, channelAddress, txId, usdcOnBase, walletAddress } from '../../support/evidence.ts'
import { readTransfer, type Script, scriptedReader } from '../../support/scripted-reader.ts'

let books: Books
let deps: ScanDeps
const asked: ScanRequest[] = []

beforeEach(async () => {
  books = await openBooks()
  const assets = new Map([[base, [usdcOnBase]]])
  deps = { db: books.db, holder: 'me', leaseMs: 600_000, startHeights: new Map(), assets, now: () => at(2) }
  asked.length = 0
})
afterEach(() => books[Symbol.asyncDispose]())

const reader = (script: Script) => scriptedReader(asked, script)
const scan = (script: Script): Promise<ScanReport | null> => scanNetwork(deps, reader(script))

async function chainTransfers(): Promise<string[]> {
  const { rows } = await sql<{ stage: string }>`select stage from chain_transfer order by inbox_id`.execute(
    books.db,
  )
  return rows.map(({ stage }) => stage)
}

const movement = (tx: string, height: bigint) => ({
  network: base,
  tx: txId(tx),
  index: '0',
  asset: usdcOnBase,
  address: channelAddress,
  change: -5n,
  recipients: [],
  height,
  blockHash: `0x${height}`,
})

async function covered(): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', watched, heights) as line from chain_coverage order by watched`.execute(books.db)
  return rows.map(({ line }) => line)
}

async function watched(): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', number, address, from_height) as line from chain_watch order by number`.execute(
    books.db,
  )
  return rows.map(({ line }) => line)
}

const addressOf = (place: number) => `0x00000000000000000000000000000000000000d${place}` as Address

async function addChannel(id: string, address: Address, createdAt: Date): Promise<void> {
  await saveOwner(books.db, {
    owner: { kind: 'stable_wallet', id },
    deposits: [{ network: base, address }],
    forward: null,
    createdAt,
  })
}

const upTo = (from: bigint, to: bigint) => ({ final: to, proved: [{ from, to }] })

test('what was proved is one interval that ends at the cursor, for the addresses that were asked for', async () => {
  await scan({ final: 20n })
  await scan(upTo(21n, 30n))
  await scan(upTo(31n, 40n))
  expect(await watched()).toEqual([`1 ${channelAddress} 21`, `2 ${walletAddress} 21`])
  expect(await covered()).toEqual(['2 {[21,41)}'])
  const { rows } = await sql`select assets, height from chain_network`.execute(books.db)
  expect(rows).toEqual([{ assets: [usdcOnBase], height: 40n }])
})

test('addresses of the first scan are watched from where the settings let it begin', async () => {
  deps = { ...deps, startHeights: new Map([[base, 5n]]) }
  await scan(upTo(5n, 20n))
  expect(await watched()).toEqual([`1 ${channelAddress} 5`, `2 ${walletAddress} 5`])
})

test('an address that comes later is watched from where it was made, with some minutes to spare', async () => {
  await scan({ final: 20n })
  await addChannel('new', addressOf(1), at(100))
  const times: Date[] = []
  const heightAt = (time: Date) => Promise.resolve(times.push(time) > 0 ? 15n : null)
  expect(await scanNetwork(deps, { ...reader(upTo(21n, 30n)), heightAt })).toMatchObject({ enrolled: 1 })
  expect(times).toEqual([at(90)])
  expect((await watched()).at(-1)).toBe(`3 ${addressOf(1)} 15`)
  expect(await covered()).toEqual(['3 {[21,31)}'])
})

test('where the settings begin above, an address is watched from there; where no block is older, from the first', async () => {
  await scan({ final: 20n })
  await addChannel('new', addressOf(1), at(100))
  deps = { ...deps, startHeights: new Map([[base, 18n]]) }
  await scanNetwork(deps, { ...reader({ final: 20n }), heightAt: () => Promise.resolve(3n) })
  await addChannel('newer', addressOf(2), at(100))
  deps = { ...deps, startHeights: new Map() }
  await scan({ final: 20n })
  expect((await watched()).slice(2)).toEqual([`3 ${addressOf(1)} 18`, `4 ${addressOf(2)} 1`])
})

test('an address that came while a network had halted is watched from where it was made, wherever reading goes on', async () => {
  await scan({ final: 20n })
  await addChannel('new', addressOf(1), at(100))
  await rescanNetwork(deps, { ...reader(upTo(15n, 30n)), heightAt: () => Promise.resolve(5n) }, 15n)
  expect((await watched()).at(-1)).toBe(`3 ${addressOf(1)} 5`)
  const { rows } = await sql`select from_height, to_height from accounting.coverage_gaps`.execute(books.db)
  expect(rows).toEqual([{ from_height: 5n, to_height: 14n }])
})

test('a node that cannot tell times keeps new addresses waiting, and nothing else', async () => {
  await scan({ final: 20n })
  await addChannel('new', addressOf(1), at(100))
  const timeless = {
    ...reader({ ...upTo(21n, 30n), transfers: [readTransfer()] }),
    heightAt: () => Promise.reject(new Error('no times')),
  }
  await expect(scanNetwork(deps, timeless)).rejects.toThrow('no times')
  expect(await chainTransfers()).toHaveLength(1)
  expect(await covered()).toEqual(['2 {[21,31)}'])
  expect(asked.at(-1)?.watched.has(addressOf(1))).toBe(true)
  expect(await scan(upTo(31n, 40n))).toMatchObject({ enrolled: 1 })
})

test('heights above a change of history count as read no more, and neither do movements there', async () => {
  await scan({ final: 20n })
  const movements = [movement('low', 22n), movement('high', 28n)]
  await scan({ ...upTo(21n, 30n), movements: [...movements, ...movements] })
  await scan({ final: 25n, rewoundTo: 25n })
  expect(await covered()).toEqual(['2 {[21,26)}'])
  const { rows } = await sql`select height, change from chain_movement`.execute(books.db)
  expect(rows).toEqual([{ height: 22n, change: '-5' }])
  await scan({ ...upTo(26n, 30n), movements: [movement('high', 28n)] })
  expect(await covered()).toEqual(['2 {[21,31)}'])
})

test('a reader that proves heights above its own cursor is broken: nothing is stored', async () => {
  await scan({ final: 20n })
  await expect(scan({ final: 30n, proved: [{ from: 21n, to: 31n }] })).rejects.toThrow('invariant broken')
  expect(await covered()).toEqual([])
})

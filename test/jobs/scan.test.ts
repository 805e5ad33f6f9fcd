import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ScanRequest, ScanResult, StagedTransfer } from '../../src/chain/port.ts'
import type { Address } from '../../src/core/asset.ts'
import { type NetworkReader, type ScanDeps, type Scanned, scanNetwork } from '../../src/jobs/scan.ts'
import { saveOwner } from '../../src/store/owners.ts'
import { takeLease } from '../../src/store/streams.ts'
import { type Books, openBooks } from '../support/books.ts'
import {
  arbitrum,
  at,
  base,
  channelAddress,
  claim,
  payment,
  recipient,
  txId,
  usdcOnBase,
  walletAddress,
} from '../support/evidence.ts'

let books: Books
let deps: ScanDeps
const asked: ScanRequest[] = []

beforeEach(async () => {
  books = await openBooks()
  deps = {
    db: books.db,
    holder: 'me',
    leaseMs: 600_000,
    startHeights: new Map(),
    assets: new Map([[base, [usdcOnBase]]]),
    now: () => at(2),
  }
  asked.length = 0
})
afterEach(() => books[Symbol.asyncDispose]())

type Script = Omit<Partial<ScanResult>, 'cursor'> & { final: bigint; hash?: string }

/** A reader that answers one scan as it is told. */
function reader({ final, hash = `0x${final}`, ...result }: Script): NetworkReader {
  return {
    network: base,
    checkIdentity: () => Promise.resolve(),
    heightAt: () => Promise.resolve(null),
    readRange: () => Promise.reject(new Error('nothing is to be read beside the scan')),
    scan(request) {
      asked.push(request)
      const cursor = {
        final: { height: final, hash },
        seenHeight: final,
        trail: [{ height: 1n, hash: '0x1' }],
      }
      return Promise.resolve({
        transfers: [],
        movements: [],
        proved: [],
        dissent: [],
        cursor,
        headHeight: final + 2n,
        rewoundTo: null,
        more: false,
        ...result,
      })
    },
  }
}

const scan = (script: Script): Promise<Scanned | null> => scanNetwork(deps, reader(script))

function transfer(changes: Partial<StagedTransfer> = {}): StagedTransfer {
  const { kind: _kind, role: _role, epoch: _epoch, receivedAt: _at, ...facts } = payment()
  return { ...facts, stage: 'final', ...changes }
}

async function sightings(): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', stage, block_hash) as line from sighting order by inbox_id`.execute(books.db)
  return rows.map(({ line }) => line)
}

async function states(): Promise<string[]> {
  await books.settle()
  const { rows } = await sql<{ state: string }>`select state from deposit order by id`.execute(books.db)
  return rows.map(({ state }) => state)
}

test('the first scan has no cursor and is told where to begin and what is watched', async () => {
  await scanNetwork({ ...deps, startHeights: new Map([[base, 17n]]) }, reader({ final: 20n }))
  await scan({ final: 30n })
  expect(asked).toEqual([
    { cursor: null, startHeight: 17n, watched: new Set([channelAddress, walletAddress]) },
    {
      cursor: {
        final: { height: 20n, hash: '0x20' },
        seenHeight: 20n,
        trail: [{ height: 1n, hash: '0x1' }],
      },
      startHeight: null,
      watched: new Set([channelAddress, walletAddress]),
    },
  ])
})

test('what is found is stored once, however often it is read', async () => {
  const found = { final: 20n, transfers: [transfer(), transfer({ stage: 'seen', index: '9', height: 21n })] }
  expect(await scan(found)).toMatchObject({ stored: 2, rewound: false, headHeight: 22n, finalHeight: 20n })
  expect(await scan(found)).toMatchObject({ stored: 0 })
  expect(await states()).toEqual(['confirmed', 'observed'])
})

test('a transfer to an address that nobody watches is left out', async () => {
  const stranger = '0x00000000000000000000000000000000000000dd' as Address
  expect(await scan({ final: 20n, transfers: [transfer({ to: stranger })] })).toMatchObject({ stored: 0 })
})

test('a transfer to a deposit address that is also a recipient is read as both', async () => {
  await saveOwner(books.db, {
    owner: { kind: 'channel', id: 'chain' },
    deposits: [{ network: arbitrum, address: recipient }],
    forward: { network: base, asset: 'USDC', recipient: channelAddress },
  })
  expect(await scan({ final: 20n, transfers: [transfer()] })).toMatchObject({ stored: 2 })
  const { rows } = await sql<{ role: string }>`
    select convert_from(body, 'UTF8')::jsonb ->> 'role' as role from inbox order by 1`.execute(books.db)
  expect(rows.map(({ role }) => role)).toEqual(['deposit', 'recipient'])
})

test('an early sighting that did not become final is withdrawn', async () => {
  await scan({ final: 5n, transfers: [transfer({ stage: 'seen' })] })
  expect(await states()).toEqual(['observed'])
  expect(await scan({ final: 9n })).toMatchObject({ stored: 0 })
  expect(await scan({ final: 10n })).toMatchObject({ stored: 1 })
  expect(await sightings()).toEqual(['seen 0xb10c', 'orphaned 0xb10c'])
  expect(await states()).toEqual(['orphaned'])
})

test('an early sighting that became final in another block is not withdrawn', async () => {
  await scan({ final: 5n, transfers: [transfer({ stage: 'seen' })] })
  await scan({ final: 12n, transfers: [transfer({ height: 11n, blockHash: '0xother' })] })
  expect(await states()).toEqual(['confirmed'])
})

test('what was final above a change of history is withdrawn, unless the new history holds it', async () => {
  const [kept, lost] = [transfer(), transfer({ index: '1' })]
  await books.receive(claim())
  await scan({ final: 12n, transfers: [kept, lost] })
  expect(await states()).toEqual(['settling', 'confirmed'])
  const again = transfer({ height: 11n, blockHash: '0xother' })
  expect(await scan({ final: 12n, rewoundTo: 9n, transfers: [again] })).toMatchObject({
    rewound: true,
    stored: 3,
  })
  expect(await states()).toEqual(['settling', 'orphaned'])
})

test('history that changes again withdraws what the first change had brought', async () => {
  await scan({ final: 12n, transfers: [transfer()] })
  await scan({ final: 12n, rewoundTo: 9n, transfers: [transfer({ blockHash: '0xother' })] })
  expect(await states()).toEqual(['confirmed'])
  await scan({ final: 12n, rewoundTo: 9n })
  expect(await states()).toEqual(['orphaned'])
  await scan({ final: 12n, rewoundTo: 9n, transfers: [transfer()] })
  expect(await states()).toEqual(['confirmed'])
})

test('a payment that the new history holds and has not made final yet is not booked', async () => {
  await scan({ final: 12n, transfers: [transfer()] })
  await scan({ final: 9n, rewoundTo: 9n, transfers: [transfer({ stage: 'seen', blockHash: '0xother' })] })
  expect(await states()).toEqual(['orphaned'])
  const { rows } = await sql`
    select account from ledger_balance group by account having sum(balance) <> 0`.execute(books.db)
  expect(rows).toEqual([])
  await scan({ final: 12n, transfers: [transfer({ blockHash: '0xother' })] })
  expect(await states()).toEqual(['confirmed'])
})

test('while another process has the stream, nothing is read', async () => {
  await takeLease(books.db, { stream: 'scan/base', holder: 'somebody else', ttlMs: 600_000 })
  expect(await scan({ final: 20n })).toBeNull()
  expect(asked).toEqual([])
})

test('a process that lost the stream while it read stores nothing', async () => {
  const slow: NetworkReader = {
    ...reader({ final: 20n }),
    async scan(request) {
      await takeLease(books.db, { stream: 'scan/base', holder: 'somebody else', ttlMs: 600_000 })
      return reader({ final: 20n, transfers: [transfer()] }).scan(request)
    },
  }
  await expect(scanNetwork({ ...deps, leaseMs: 0 }, slow)).rejects.toMatchObject({ code: 'lease_lost' })
  expect(await sightings()).toEqual([])
})

test('a reader that fails leaves the cursor where it was', async () => {
  await scan({ final: 20n })
  const failing: NetworkReader = {
    ...reader({ final: 30n }),
    scan: () => Promise.reject(new Error('no node')),
  }
  await expect(scanNetwork(deps, failing)).rejects.toThrow('no node')
  await scan({ final: 40n })
  expect(asked.at(-1)?.cursor?.final.height).toBe(20n)
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
  })
  await sql`update owner set created_at = ${createdAt} where id = ${id}`.execute(books.db)
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

test('a node that cannot tell times keeps new addresses waiting, and nothing else', async () => {
  await scan({ final: 20n })
  await addChannel('new', addressOf(1), at(100))
  const timeless = {
    ...reader({ ...upTo(21n, 30n), transfers: [transfer()] }),
    heightAt: () => Promise.reject(new Error('no times')),
  }
  await expect(scanNetwork(deps, timeless)).rejects.toThrow('no times')
  expect(await sightings()).toHaveLength(1)
  expect(await covered()).toEqual(['2 {[21,31)}'])
  expect(asked.at(-1)?.watched.has(addressOf(1))).toBe(true)
  expect(await scan(upTo(31n, 40n))).toMatchObject({ enrolled: 1 })
})

test('heights above a change of history count as read no more, and neither do movements there', async () => {
  const movement = (tx: string, height: bigint) => ({
    network: base,
    tx: txId(tx),
    index: '0',
    asset: usdcOnBase,
    address: channelAddress,
    change: -5n,
    height,
    blockHash: `0x${height}`,
  })
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

import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ScanRequest } from '../../../src/chain/types.ts'
import type { Address } from '../../../src/core/asset.ts'
import {
  type NetworkReader,
  type ScanDeps,
  type ScanReport,
  scanNetwork,
} from '../../../src/jobs/chain/scan.ts'
import { saveOwner } from '../../../src/store/owners.ts'
import { takeLease } from '../../../src/store/streams.ts'
import { type Books, openBooks } from '../../support/books.ts'
import {
  arbitrum,
  at,
  base,
  channelAddress,
  claim,
  recipient,
  usdcOnBase,
  walletAddress,
} from '../../support/evidence.ts'
import { readTransfer, type Script, scriptedReader } from '../../support/scripted-reader.ts'

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

const reader = (script: Script) => scriptedReader(asked, script)
const scan = (script: Script): Promise<ScanReport | null> => scanNetwork(deps, reader(script))

async function chainTransfers(): Promise<string[]> {
  const { rows } = await sql<{ line: string }>`
    select concat_ws(' ', stage, block_hash) as line from chain_transfer order by inbox_id`.execute(books.db)
  return rows.map(({ line }) => line)
}

async function states(): Promise<string[]> {
  await books.settle()
  const { rows } = await sql<{ state: string }>`
    select state from deposit where merged_into is null order by id`.execute(books.db)
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
  const found = {
    final: 20n,
    transfers: [readTransfer(), readTransfer({ stage: 'seen', index: '9', height: 21n })],
  }
  expect(await scan(found)).toMatchObject({ stored: 2, rewound: false, headHeight: 22n, finalHeight: 20n })
  expect(await scan(found)).toMatchObject({ stored: 0 })
  expect(await states()).toEqual(['confirmed', 'observed'])
})

test('of two scans of one process that overlap, the one that was overtaken stores nothing', async () => {
  await scan({ final: 20n })
  const late = reader({
    final: 30n,
    proved: [{ from: 21n, to: 30n }],
    transfers: [readTransfer({ height: 25n })],
  })
  const overtaken: NetworkReader = {
    ...late,
    scan: async (request) => {
      await scan({ final: 15n, rewoundTo: 15n })
      return late.scan(request)
    },
  }
  await expect(scanNetwork(deps, overtaken)).rejects.toMatchObject({ code: 'lease_lost' })
  expect(await chainTransfers()).toEqual([])
  const { rows } = await sql`select heights from chain_coverage`.execute(books.db)
  expect(rows).toEqual([])
  await scan({ final: 16n })
  expect(asked.at(-1)?.cursor?.final.height).toBe(15n)
})

async function readAt(): Promise<Date | null> {
  const { rows } = await sql<{ succeeded_at: Date | null }>`
    select succeeded_at from stream where name = 'scan/base'`.execute(books.db)
  return rows[0]?.succeeded_at ?? null
}

test('a network is read completely only where nothing more is to be read', async () => {
  await scan({ final: 20n, more: true })
  expect(await readAt()).toBeNull()
  await scan({ final: 30n })
  const complete = await readAt()
  expect(complete).not.toBeNull()
  await scan({ final: 40n, more: true })
  expect(await readAt()).toEqual(complete)
})

test('a transfer to an address that nobody watches is left out', async () => {
  const addressConflict = '0x00000000000000000000000000000000000000dd' as Address
  expect(await scan({ final: 20n, transfers: [readTransfer({ to: addressConflict })] })).toMatchObject({
    stored: 0,
  })
})

test('a transfer to a deposit address that is also a recipient is read as both', async () => {
  await saveOwner(books.db, {
    owner: { kind: 'channel', id: 'chain' },
    deposits: [{ network: arbitrum, address: recipient }],
    forward: { network: base, asset: 'USDC', recipient: channelAddress },
  })
  expect(await scan({ final: 20n, transfers: [readTransfer()] })).toMatchObject({ stored: 2 })
  const { rows } = await sql<{ role: string }>`
    select convert_from(body, 'UTF8')::jsonb ->> 'role' as role from inbox order by 1`.execute(books.db)
  expect(rows.map(({ role }) => role)).toEqual(['deposit', 'recipient'])
})

test('an early chain_transfer that did not become final is withdrawn', async () => {
  await scan({ final: 5n, transfers: [readTransfer({ stage: 'seen' })] })
  expect(await states()).toEqual(['observed'])
  expect(await scan({ final: 9n })).toMatchObject({ stored: 0 })
  expect(await scan({ final: 10n })).toMatchObject({ stored: 1 })
  expect(await chainTransfers()).toEqual(['seen 0xb10c', 'orphaned 0xb10c'])
  expect(await states()).toEqual(['orphaned'])
})

test('an early chain_transfer that became final in another block is not withdrawn', async () => {
  await scan({ final: 5n, transfers: [readTransfer({ stage: 'seen' })] })
  await scan({ final: 12n, transfers: [readTransfer({ height: 11n, blockHash: '0xother' })] })
  expect(await states()).toEqual(['confirmed'])
})

test('what was final above a change of history is withdrawn, unless the new history holds it', async () => {
  const [kept, lost] = [readTransfer(), readTransfer({ index: '1' })]
  await books.receive(claim())
  await scan({ final: 12n, transfers: [kept, lost] })
  expect(await states()).toEqual(['settling', 'confirmed'])
  const again = readTransfer({ height: 11n, blockHash: '0xother' })
  expect(await scan({ final: 12n, rewoundTo: 9n, transfers: [again] })).toMatchObject({
    rewound: true,
    stored: 3,
  })
  // What the same transaction paid under another index is the same deposit, and is booked once.
  expect(await states()).toEqual(['settling'])
  const { rows } = await sql`
    select sum(balance) as held from ledger_balance where account = 'assets:in_transit:base'`.execute(
    books.db,
  )
  expect(rows).toEqual([{ held: again.amount.toString() }])
})

test('history that changes again withdraws what the first change had brought', async () => {
  await scan({ final: 12n, transfers: [readTransfer()] })
  await scan({ final: 12n, rewoundTo: 9n, transfers: [readTransfer({ blockHash: '0xother' })] })
  expect(await states()).toEqual(['confirmed'])
  await scan({ final: 12n, rewoundTo: 9n })
  expect(await states()).toEqual(['orphaned'])
  await scan({ final: 12n, rewoundTo: 9n, transfers: [readTransfer()] })
  expect(await states()).toEqual(['confirmed'])
})

test('a payment that the new history holds and has not made final yet is not booked', async () => {
  await scan({ final: 12n, transfers: [readTransfer()] })
  await scan({ final: 9n, rewoundTo: 9n, transfers: [readTransfer({ stage: 'seen', blockHash: '0xother' })] })
  expect(await states()).toEqual(['orphaned'])
  const { rows } = await sql`
    select account from ledger_balance group by account having sum(balance) <> 0`.execute(books.db)
  expect(rows).toEqual([])
  await scan({ final: 12n, transfers: [readTransfer({ blockHash: '0xother' })] })
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
      return reader({ final: 20n, transfers: [readTransfer()] }).scan(request)
    },
  }
  await expect(scanNetwork({ ...deps, leaseMs: 0 }, slow)).rejects.toMatchObject({ code: 'lease_lost' })
  expect(await chainTransfers()).toEqual([])
})

test('a reader that fails leaves the cursor where it was, and the network to any other process', async () => {
  await scan({ final: 20n })
  const failing: NetworkReader = {
    ...reader({ final: 30n }),
    scan: () => Promise.reject(new Error('no node')),
  }
  await expect(scanNetwork(deps, failing)).rejects.toThrow('no node')
  const other = { ...deps, holder: 'another process' }
  expect(await scanNetwork(other, reader({ final: 40n }))).not.toBeNull()
  expect(asked.at(-1)?.cursor?.final.height).toBe(20n)
})

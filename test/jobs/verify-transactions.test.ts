import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { StagedTransfer, TransactionReading } from '../../src/chain/port.ts'
import type { Address } from '../../src/core/asset.ts'
import { Fault } from '../../src/core/errors.ts'
import { type ServiceId, stableWalletNetwork } from '../../src/core/evidence.ts'
import { encodePosition, scanStream } from '../../src/jobs/scan-position.ts'
import {
  type TransactionReader,
  type Verified,
  verifyTransactions,
} from '../../src/jobs/verify-transactions.ts'
import { inTransaction } from '../../src/store/database.ts'
import { appendSightings, rewoundSightings } from '../../src/store/sightings.ts'
import { moveCursor, takeLease } from '../../src/store/streams.ts'
import { type Books, openBooks } from '../support/books.ts'
import {
  arbitrum,
  at,
  base,
  channelAddress,
  claim,
  credit,
  delivery,
  payment,
  txId,
  walletAddress,
  webhook,
} from '../support/evidence.ts'

let books: Books
let now: Date

beforeEach(async () => {
  books = await openBooks({ readNetworks: new Set([base, arbitrum]), now: () => now })
  now = at(6)
  await stand(20n, 0)
})
afterEach(() => books[Symbol.asyncDispose]())

/** Puts the scan of Base where it has read all that is final. */
async function stand(height: bigint, epoch: number): Promise<void> {
  const lease = await takeLease(books.db, { stream: scanStream(base), holder: 'scan', ttlMs: 60_000 })
  if (lease === null) throw new Error('nobody else scans')
  const cursor = { final: { height, hash: '0x20' }, seenHeight: height, trail: [] }
  await inTransaction(books.db, (tx) =>
    moveCursor(tx, lease, { cursor: encodePosition({ cursor, epoch }), progress: {} }),
  )
}

type Answers = Readonly<Record<string, TransactionReading | Fault>>

/** Answers by transaction, and keeps which it was asked for. */
function readerOf(answers: Answers) {
  const asked: string[] = []
  const reader: TransactionReader = {
    network: base,
    readTransaction(tx, watched) {
      expect(watched).toContain(channelAddress)
      asked.push(tx)
      const answer = answers[tx] ?? { kind: 'unknown' }
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    },
  }
  return { reader, asked }
}

async function verify(answers: Answers): Promise<Verified & { asked: string[] }> {
  const { reader, asked } = readerOf(answers)
  const verified = await verifyTransactions({ db: books.db, now: () => now }, reader)
  return { ...verified, asked }
}

function moved(changes: Partial<StagedTransfer> = {}): StagedTransfer {
  const { kind: _kind, role: _role, epoch: _epoch, receivedAt: _at, ...facts } = payment()
  return { ...facts, stage: 'final', ...changes }
}

const reads = (...transfers: StagedTransfer[]): TransactionReading => ({ kind: 'read', transfers })

async function deposits(): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select concat_ws(' ', state, chain_at is not null, (
      select string_agg(kind, ' ' order by kind) from mismatch
      where deposit_id = deposit.id and cleared_at is null
    )) as text from deposit where merged_into is null order by id`.execute(books.db)
  return rows.map(({ text }) => text)
}

async function waiting(): Promise<[string, boolean][]> {
  const rows = await books.db
    .selectFrom('named_transaction')
    .select(['tx', 'next_at'])
    .where('network', '=', base)
    .orderBy('tx')
    .execute()
  return rows.map(({ tx, next_at }) => [tx, next_at !== null])
}

const early = { status: 'observed', settlement: { tx: null } } as const
const named = txId('pay')

test('what a named transaction moved is booked as if a scan had found it', async () => {
  await books.receive(webhook(early))
  await books.settle()
  expect(await verify({ [named]: reads(moved()) })).toEqual({ stored: 1, more: false, asked: [named] })
  await books.settle()
  expect(await deposits()).toEqual(['confirmed t'])
  expect(await waiting()).toEqual([])
  await inTransaction(books.db, (tx) => appendSightings(tx, [payment({ receivedAt: at(7) })]))
  await books.settle()
  expect(await books.db.selectFrom('ledger_journal').select('kind').execute()).toEqual([{ kind: 'deposit' }])
})

test('above what the scan has read it is seen, however final the node says it is', async () => {
  await books.receive(webhook(early))
  await books.settle()
  await verify({ [named]: reads(moved({ height: 21n })) })
  await books.settle()
  expect(await deposits()).toEqual(['observed t'])
})

test('what the scan has passed meanwhile, and is not final to the node, is read again', async () => {
  await books.receive(webhook(early))
  await books.settle()
  const first = await verify({ [named]: reads(moved({ stage: 'seen' })) })
  expect([first.stored, await waiting()]).toEqual([0, [[named, true]]])
  now = at(7)
  expect(await verify({ [named]: reads(moved()) })).toMatchObject({ stored: 1 })
})

test('what is unknown is read again after ever longer pauses, and at last no more', async () => {
  await books.receive(webhook(early))
  await books.settle()
  const times: number[] = []
  const started = now.getTime()
  for (let second = 0; second < 7200; second++) {
    now = new Date(started + second * 1000)
    if ((await verifyIfDue()) > 0) times.push(second)
  }
  expect(times.slice(0, 5)).toEqual([0, 2, 6, 14, 30])
  expect(times).toHaveLength(16)
  expect(await waiting()).toEqual([[named, false]])
})

/** How many were read; asks the database first, which is what the sweep does. */
async function verifyIfDue(): Promise<number> {
  const due = await books.db
    .selectFrom('named_transaction')
    .select('tx')
    .where('next_at', '<=', now)
    .execute()
  return due.length === 0 ? 0 : (await verify({})).asked.length
}

test('a node that does not answer fails the job, and is asked again; what others told is stored', async () => {
  await books.receive(
    webhook(early),
    webhook({ ...early, serviceId: 'dep_2' as ServiceId, deposit: { tx: txId('two') } }),
  )
  await books.settle()
  const away = new Fault('remote_failed', { what: 'base node', problem: 'refused' })
  await expect(verify({ [named]: away, [txId('two')]: reads(moved({ tx: txId('two') })) })).rejects.toBe(away)
  await books.settle()
  expect(await deposits()).toEqual(['observed f', 'confirmed t'])
  expect(await waiting()).toEqual([[named, true]])
})

test('a transaction that failed is told at once, and is not looked for any more', async () => {
  await books.receive(webhook(early), claim(early))
  await books.settle()
  expect(await verify({ [named]: { kind: 'failed', height: 12n } })).toMatchObject({ stored: 1 })
  await books.settle()
  expect(await deposits()).toEqual(['observed f tx_failed'])
  now = at(600)
  await books.settle()
  expect(await deposits()).toEqual(['observed f tx_failed'])
  expect((await verify({})).asked).toEqual([])
  const detail = await books.db
    .selectFrom('mismatch')
    .select('detail')
    .where('kind', '=', 'tx_failed')
    .execute()
  expect(detail).toEqual([{ detail: { leg: 'deposit', transaction: `base/${named}`, height: '12' } }])
})

test('a payment that came in another transaction than the one that failed clears that', async () => {
  await books.receive(webhook(early))
  await books.settle()
  await verify({ [named]: { kind: 'failed', height: 12n } })
  await books.settle()
  await books.receive(claim({ ...early, deposit: { tx: txId('again') } }))
  await books.settle()
  expect(await verify({ [txId('again')]: reads(moved({ tx: txId('again') })) })).toMatchObject({ stored: 1 })
  await books.settle()
  expect(await deposits()).toEqual(['confirmed t'])
})

test('what a scan found first is not read', async () => {
  await books.receive(webhook(early))
  await books.settle()
  await books.receive(payment())
  await books.settle()
  expect((await verify({})).asked).toEqual([])
  expect(await waiting()).toEqual([])
})

test('what a change of history took back is asked for again', async () => {
  await books.receive(webhook(early), payment())
  await books.settle()
  await inTransaction(books.db, async (tx) => {
    const gone = await rewoundSightings(tx, base, 5n)
    await appendSightings(
      tx,
      gone.map((one) => ({ ...one, stage: 'orphaned' as const, epoch: 1 })),
    )
  })
  await stand(20n, 1)
  await books.settle()
  expect((await verify({ [named]: reads(moved({ blockHash: '0xnew' })) })).asked).toEqual([named])
  await books.settle()
  expect(await deposits()).toEqual(['confirmed t'])
})

test('what was read while history changed is not stored, and is read again', async () => {
  await books.receive(webhook(early))
  await books.settle()
  const { reader } = readerOf({ [named]: reads(moved()) })
  const changing: TransactionReader = {
    ...reader,
    readTransaction: async (...asked) => {
      await stand(20n, 1)
      return reader.readTransaction(...asked)
    },
  }
  expect(await verifyTransactions({ db: books.db, now: () => now }, changing)).toMatchObject({ stored: 0 })
  expect(await waiting()).toEqual([[named, true]])
})

test('nothing is read before the first scan has decided where reading begins', async () => {
  await sql`update stream set cursor = null`.execute(books.db)
  await books.receive(webhook(early))
  await books.settle()
  expect((await verify({})).asked).toEqual([])
})

test('a transaction that pays others, or nobody, is not read again; what it pays to other addresses of ours counts', async () => {
  await books.receive(webhook(early))
  await books.settle()
  await verify({ [named]: reads(moved({ to: walletAddress })) })
  await books.settle()
  expect(await waiting()).toEqual([[named, false]])
  expect(await deposits()).toEqual(['observed f', 'confirmed t'])
})

test('one transaction that is named for two deposits is read once', async () => {
  const settlement = { network: stableWalletNetwork, address: 'savings' as Address, asset: credit, tx: null }
  const two = {
    status: 'observed',
    serviceId: 'dep_2' as ServiceId,
    owner: null,
    deposit: { address: walletAddress },
    settlement,
  } as const
  await books.receive(webhook(early), webhook(two))
  await books.settle()
  const other = moved({ to: walletAddress, index: '1' })
  expect(await verify({ [named]: reads(moved(), other) })).toEqual({ stored: 2, more: false, asked: [named] })
  await books.settle()
  expect(await deposits()).toEqual(['confirmed t', 'confirmed t'])
})

test('of twenty verifications at once, one reads', async () => {
  await books.receive(webhook(early))
  await books.settle()
  const all = await Promise.all(Array.from({ length: 20 }, () => verify({ [named]: reads(moved()) })))
  expect(all.flatMap(({ asked }) => asked)).toEqual([named])
  expect(all.reduce((sum, { stored }) => sum + stored, 0)).toBe(1)
})

test('a delivery is read by the transaction that the service names for it', async () => {
  await books.receive(webhook(), claim(), payment())
  await books.settle()
  const lease = await takeLease(books.db, { stream: scanStream(arbitrum), holder: 'scan', ttlMs: 60_000 })
  if (lease === null) throw new Error('nobody else scans')
  const cursor = { final: { height: 20n, hash: '0x20' }, seenHeight: 20n, trail: [] }
  await inTransaction(books.db, (tx) =>
    moveCursor(tx, lease, { cursor: encodePosition({ cursor, epoch: 0 }), progress: {} }),
  )
  const { kind: _kind, role: _role, epoch: _epoch, receivedAt: _at, ...facts } = delivery()
  const reader: TransactionReader = {
    network: arbitrum,
    readTransaction: () => Promise.resolve(reads({ ...facts, stage: 'final' })),
  }
  expect(await verifyTransactions({ db: books.db, now: () => now }, reader)).toMatchObject({ stored: 1 })
  await books.settle()
  expect(await deposits()).toEqual(['reconciled t'])
})

test('an address that nobody has is no reason to read: nothing could be found', async () => {
  const strange = '0x00000000000000000000000000000000000000ab' as Address
  await books.receive(webhook({ ...early, owner: null, deposit: { address: strange } }))
  await books.settle()
  expect(await waiting()).toEqual([])
})

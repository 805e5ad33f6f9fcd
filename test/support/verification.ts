import { sql } from 'kysely'
import { expect } from 'vitest'
import type { StagedTransfer, TransactionReading } from '../../src/chain/types.ts'
import type { NetworkName } from '../../src/core/asset.ts'
import type { Observation } from '../../src/core/evidence.ts'
import { encodePosition, scanStream } from '../../src/jobs/chain/scan-position.ts'
import { type TransactionReader, verifyTransactions } from '../../src/jobs/chain/verify-transactions.ts'
import { inTransaction } from '../../src/store/database.ts'
import { moveCursor, takeLease } from '../../src/store/streams.ts'
import { type Books, openBooks } from './books.ts'
import { arbitrum, at, base, channelAddress, payment } from './evidence.ts'

/** What a scripted reader answers, by transaction; all others are unknown to it. */
type Answers = Readonly<Record<string, TransactionReading | Error>>

/** Books of networks that scans have read up to height 20, and a clock that a test sets. */
export type Verification = AsyncDisposable & {
  db: Books['db']
  now: Date
  /** Whether transactions may be read now. */
  mayRead: boolean
  /** Stores observations, and decides all there is to decide. */
  report(...observations: Observation[]): Promise<void>
  /** Puts the scan of a network where it has read all that is final. */
  stand(epoch: number, network?: NetworkName): Promise<void>
  /** One run, and the transactions that it read. */
  verify(answers: Answers | TransactionReader): Promise<{ stored: number; asked: string[] }>
  /** State of each deposit, whether a chain showed it, and what is open. */
  deposits(): Promise<string[]>
  /** Each transaction of Base that was asked for and not found, and whether it is read again. */
  waiting(): Promise<[string, boolean][]>
}

export async function openVerification(): Promise<Verification> {
  const clock = { now: at(6), mayRead: true }
  const now = () => clock.now
  const books = await openBooks({ readNetworks: new Set([base, arbitrum]), now })
  const verification: Verification = Object.assign(clock, {
    db: books.db,
    async report(...observations: Observation[]) {
      await books.receive(...observations)
      await books.settle()
    },
    stand: (epoch: number, network = base) => stand(books, network, epoch),
    async verify(answers: Answers | TransactionReader) {
      const asked: string[] = []
      const reader = isReader(answers) ? answers : readerOf(answers, asked)
      const stored = await verifyTransactions({ db: books.db, now, mayRead: () => clock.mayRead }, reader)
      return { stored, asked }
    },
    deposits: () => depositsOf(books),
    waiting: () => waitingIn(books),
    [Symbol.asyncDispose]: () => books[Symbol.asyncDispose](),
  })
  await verification.stand(0)
  return verification
}

/** The payment of the made-up world, as a reader tells it. */
export function moved(changes: Partial<StagedTransfer> = {}): StagedTransfer {
  const { kind: _kind, role: _role, epoch: _epoch, receivedAt: _at, ...facts } = payment()
  return { ...facts, stage: 'final', ...changes }
}

export function reads(...transfers: StagedTransfer[]): TransactionReading {
  return { kind: 'read', transfers }
}

export function readerOf(answers: Answers, asked: string[] = []): TransactionReader {
  return {
    network: base,
    readTransaction(tx, watched) {
      expect(watched).toContain(channelAddress)
      asked.push(tx)
      const answer = answers[tx] ?? { kind: 'unknown' }
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    },
  }
}

function isReader(answers: Answers | TransactionReader): answers is TransactionReader {
  return 'readTransaction' in answers
}

async function stand({ db }: Books, network: NetworkName, epoch: number): Promise<void> {
  const lease = await takeLease(db, { stream: scanStream(network), holder: 'scan', ttlMs: 60_000 })
  if (lease === null) throw new Error('nobody else scans')
  const cursor = { final: { height: 20n, hash: '0x20' }, seenHeight: 20n, trail: [] }
  await inTransaction(db, (tx) =>
    moveCursor(tx, lease, { cursor: encodePosition({ cursor, epoch }), progress: {} }),
  )
}

async function depositsOf({ db }: Books): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select concat_ws(' ', state, chain_at is not null, (
      select string_agg(kind, ' ' order by kind) from mismatch
      where deposit_id = deposit.id and cleared_at is null
    )) as text from deposit where merged_into is null order by id`.execute(db)
  return rows.map(({ text }) => text)
}

async function waitingIn({ db }: Books): Promise<[string, boolean][]> {
  const rows = await db
    .selectFrom('named_transaction')
    .select(['tx', 'next_at'])
    .where('network', '=', base)
    .orderBy('tx')
    .execute()
  return rows.map(({ tx, next_at }) => [tx, next_at !== null])
}

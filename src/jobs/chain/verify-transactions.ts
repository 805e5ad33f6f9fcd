import type { Kysely, Transaction } from 'kysely'
import { mapBounded } from '../../chain/map-bounded.ts'
import type { OnDemandReader, ScanCursor, StagedTransfer, TransactionReading } from '../../chain/types.ts'
import type { Address, NetworkName } from '../../core/asset.ts'
import { messageOf } from '../../core/errors.ts'
import { type TransactionFailure, transferRef } from '../../core/evidence.ts'
import type { NamedTransaction } from '../../core/judging/named-transactions.ts'
import { appendChainTransfers } from '../../store/chain/chain-transfers.ts'
import { readWatchList, type WatchEntry } from '../../store/chain/chain-watch.ts'
import { isReadingHistory } from '../../store/chain/history.ts'
import {
  appendFailures,
  type DueTransaction,
  dropSeen,
  dropTransactions,
  endTransactions,
  putOffTransactions,
  takeDueTransactions,
} from '../../store/chain/named-transactions.ts'
import { inTransaction } from '../../store/database.ts'
import type { Tables } from '../../store/tables.ts'
import { foundChainTransfers, positionOf, type ScanPosition } from './scan-position.ts'

export type VerifyDeps = {
  db: Kysely<Tables>
  now: () => Date
  mayRead: () => boolean
}

export type TransactionReader = { network: NetworkName } & Pick<OnDemandReader, 'readTransaction'>

/** Per run. */
export const rowsMax = 20
export const readAtOnce = 4

/** A scan finds most transactions by then, with far fewer requests. */
const putOffMs = 30_000
/** The same of the history. A few are read all the same: they may be new. */
export const putOffForHistoryMs = 300_000

/** Together a little over an hour, when a payment counts as missing. Scans still find it later. */
const triesMax = 16
/** About a week: no scan finds what is paid to an address that is not watched. */
const payeeTriesMax = 1000
const pause = { firstMs: 2000, longestMs: 600_000 }

/**
 * Reads transactions that the service names and no scan has found. Safe to run twice and concurrently.
 * @returns how many results were stored
 * @throws the first failure of a reading, after the results of the others are stored; it is repeated later
 */
export async function verifyTransactions(deps: VerifyDeps, reader: TransactionReader): Promise<number> {
  const { db } = deps
  // The first scan decides where reading begins.
  const position = await positionOf(db, reader.network)
  if (position === null) return 0
  const now = deps.now()
  const due = await takeDue(deps, reader, now)
  const book = withPayees(await readWatchList(db, reader.network), due)
  const answers = await readAll(reader, due, book)
  const stored = await inTransaction(db, (tx) => store(tx, reader, { answers, book, position, now }))
  const fault = answers.map(({ reading }) => reading).find((one) => one instanceof Error)
  if (fault !== undefined) throw fault
  return stored
}

type BookEntry = Pick<WatchEntry, 'address' | 'role'> & { isPayee?: true }

/** Recipients of withdrawals are in no address book. */
function withPayees(book: readonly WatchEntry[], due: readonly DueTransaction[]): BookEntry[] {
  const known = new Set(book.filter(({ role }) => role === 'recipient').map(({ address }) => address))
  const named = due.flatMap(({ role, address }) => (role === 'recipient' ? [address] : []))
  const payees = [...new Set(named)].filter((address) => !known.has(address))
  return [...book, ...payees.map((address) => ({ address, role: 'recipient', isPayee: true }) as const)]
}

async function takeDue(
  { db, mayRead }: VerifyDeps,
  { network }: TransactionReader,
  now: Date,
): Promise<DueTransaction[]> {
  const waiting = await dropSeen(db, { network, now }, rowsMax + 1)
  const isLeft = waiting > rowsMax && (await isReadingHistory(db, network))
  const allowed = isLeft ? 0 : countAllowed(Math.min(waiting, rowsMax), mayRead)
  const due =
    allowed === 0 ? [] : await takeDueTransactions(db, { network, now }, { rowsMax: allowed, pause })
  if (waiting > allowed)
    await putOffTransactions(db, { network, now }, isLeft ? putOffForHistoryMs : putOffMs)
  return due
}

export function countAllowed(countMax: number, mayRead: () => boolean): number {
  let allowed = 0
  while (allowed < countMax && mayRead()) allowed++
  return allowed
}

type NamedTransactionReading = { named: DueTransaction; reading: TransactionReading | Error }

/** A transaction that several claims name is read once. */
async function readAll(
  reader: TransactionReader,
  due: readonly DueTransaction[],
  book: readonly BookEntry[],
): Promise<NamedTransactionReading[]> {
  const watched = new Set(book.map(({ address }) => address))
  const failures: Error[] = []
  const legsOf = Map.groupBy(due, ({ tx }) => tx)
  const read = await mapBounded(
    [...legsOf],
    readAtOnce,
    async ([tx, legs]): Promise<NamedTransactionReading[]> => {
      // Nodes that are down would cost one timeout per transaction.
      const away = failures.length < readAtOnce ? null : failures[0]
      const reading = away ?? (await reader.readTransaction(tx, watched).catch(asError))
      if (reading instanceof Error) failures.push(reading)
      return legs.map((named) => ({ named, reading }))
    },
  )
  return read.flat()
}

/** One bad transaction must not affect the rest. */
export function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(messageOf(error))
}

type VerificationBatch = {
  answers: readonly NamedTransactionReading[]
  book: readonly BookEntry[]
  position: ScanPosition
  now: Date
}

/** If the history changed meanwhile, the readings are discarded and repeated. */
async function store(
  tx: Transaction<Tables>,
  reader: TransactionReader,
  { answers, book, position, now }: VerificationBatch,
): Promise<number> {
  const current = await positionOf(tx, reader.network)
  if (current === null || current.epoch !== position.epoch) return 0
  const { epoch } = current
  const payees = new Set(book.flatMap(({ address, isPayee }) => (isPayee ? [address] : [])))
  const outcomes = answers.map((answer) => outcomeOf(answer, current, payees))
  // Each role for which a transaction is named has its own copies.
  const found = outcomes.flatMap((one) => one.transfers)
  const transfers = [...new Map(found.map((one) => [transferRef(one), one])).values()]
  const failures = outcomes.flatMap(({ named, failedAt }) =>
    failedAt === null ? [] : [failureOf({ ...named, to: named.address }, failedAt, now)],
  )
  const stored = await appendChainTransfers(tx, foundChainTransfers({ transfers, book, epoch, now }))
  const failed = await appendFailures(tx, failures)
  await dropTransactions(
    tx,
    outcomes.flatMap(({ next, named }) => (next === 'found' ? [named] : [])),
  )
  await endTransactions(
    tx,
    outcomes.flatMap(({ next, named }) => (next === 'ended' ? [named] : [])),
  )
  return stored + failed
}

type NamedTransactionOutcome = {
  named: NamedTransaction
  /** `ended`: another reading would add nothing. */
  next: 'found' | 'ended' | 'waiting'
  transfers: readonly StagedTransfer[]
  failedAt: bigint | null
}

function outcomeOf(
  { named, reading }: NamedTransactionReading,
  { cursor }: ScanPosition,
  payees: ReadonlySet<Address>,
): NamedTransactionOutcome {
  const blank = { named, transfers: [], failedAt: null }
  const isLast = named.tries >= (payees.has(named.address) ? payeeTriesMax : triesMax)
  const later: NamedTransactionOutcome = { ...blank, next: isLast ? 'ended' : 'waiting' }
  if (reading instanceof Error || reading.kind === 'unknown') return later
  if (reading.kind === 'failed') return { ...blank, next: 'ended', failedAt: reading.height }
  const transfers = reading.transfers.map((one) => provedBy(cursor, one))
  // No scan reads the recipient of a withdrawal again.
  if (transfers.some(({ stage, to }) => stage === 'seen' && payees.has(to))) return later
  // The scan has passed this height, so the transfer is stored once it is read as final.
  if (transfers.some((one) => one.stage === 'seen' && one.height <= cursor.final.height)) return later
  return {
    ...blank,
    next: transfers.some(({ to }) => to === named.address) ? 'found' : 'ended',
    transfers,
  }
}

/** Only the scan links a block above the cursor to those below. Until then the stage is `seen`. */
function provedBy({ final }: ScanCursor, transfer: StagedTransfer): StagedTransfer {
  return transfer.height > final.height ? { ...transfer, stage: 'seen' } : transfer
}

export function failureOf(
  { role, network, tx, to }: Pick<TransactionFailure, 'role' | 'network' | 'tx' | 'to'>,
  height: bigint,
  receivedAt: Date,
): TransactionFailure {
  return { kind: 'failure', role, network, tx, to, height, receivedAt }
}

import type { Kysely } from 'kysely'
import { mapBounded } from '../../chain/map-bounded.ts'
import type { OnDemandReader, TransactionReading } from '../../chain/types.ts'
import type { Address, NetworkName } from '../../core/asset.ts'
import type { LegSearch } from '../../core/evidence.ts'
import { readWatchList } from '../../store/chain/chain-watch.ts'
import { isReadingHistory } from '../../store/chain/history.ts'
import {
  appendSearches,
  type DueLegSearch,
  dropShown,
  putOffSearches,
  readHeightsOf,
  takeDueSearches,
} from '../../store/chain/leg-searches.ts'
import { appendFailures, renewTransactions } from '../../store/chain/named-transactions.ts'
import { inTransaction } from '../../store/database.ts'
import type { Tables } from '../../store/tables.ts'
import {
  asError,
  countAllowed,
  failureOf,
  putOffForHistoryMs,
  readAtOnce,
  rowsMax,
  type VerifyDeps,
} from './verify-transactions.ts'

export type SearchReader = { network: NetworkName } & Pick<
  OnDemandReader,
  'readTransaction' | 'nodesWithout' | 'heightAt' | 'timeAt'
>

const firstPauseMs = 60_000

/** A service reports a payment some time after it happened. */
const reportMarginMs = 3_600_000

/** `isReadable`: it pays an address of the address book, so its transfers are stored as read. */
type LegSearchResult = { search: LegSearch; failedAt: bigint | null; isReadable: boolean }

/**
 * Searches for transfers that the service claims and no scan has found, whether or not the address book has their
 * addresses. Safe to run twice and concurrently.
 * @returns how many results were stored
 * @throws the first failure of a search, after the results of the others are stored; the search is repeated later
 */
export async function searchLegs(deps: VerifyDeps, reader: SearchReader): Promise<number> {
  const { db, mayRead } = deps
  const { network } = reader
  const now = deps.now()
  const waiting = await dropShown(db, { network, now }, rowsMax + 1)
  if (waiting > rowsMax && (await isReadingHistory(db, network))) {
    await putOffSearches(db, { network, now }, putOffForHistoryMs)
    return 0
  }
  const allowed = countAllowed(Math.min(waiting, rowsMax), mayRead)
  if (allowed === 0) return 0
  const due = await takeDueSearches(db, { network, now }, { rowsMax: allowed, firstPauseMs })
  if (due.length === 0) return 0
  const watched = new Set((await readWatchList(db, network)).map(({ address }) => address))
  const answers = await mapBounded(
    [...due],
    readAtOnce,
    (leg): Promise<LegSearchResult | Error> => search(db, reader, { leg, watched, now }).catch(asError),
  )
  const found = answers.flatMap((one) => (one instanceof Error ? [] : [one]))
  const stored = await inTransaction(db, async (tx) => {
    const failed = await appendFailures(
      tx,
      found.flatMap(({ search: { tx: named, ...leg }, failedAt }) =>
        failedAt === null || named === null ? [] : [failureOf({ ...leg, tx: named }, failedAt, now)],
      ),
    )
    await renewTransactions(
      tx,
      found.flatMap(({ search: { role, tx: named, to }, isReadable }) =>
        isReadable && named !== null ? [{ role, network, tx: named, address: to }] : [],
      ),
      now,
    )
    return (
      failed +
      (await appendSearches(
        tx,
        found.map((one) => one.search),
      ))
    )
  })
  const fault = answers.find((one) => one instanceof Error)
  if (fault !== undefined) throw fault
  return stored
}

type NamedReading = TransactionReading | null

type LegSearchInput = { leg: DueLegSearch; watched: ReadonlySet<Address>; now: Date }

async function search(
  db: Kysely<Tables>,
  reader: SearchReader,
  { leg, watched, now }: LegSearchInput,
): Promise<LegSearchResult> {
  const { address: to, from, ...named } = leg
  const { tx } = leg
  const reading = tx === null ? null : await reader.readTransaction(tx, new Set([...watched, to]))
  const height = heightIn(reading, to)
  const { bookedAt, ...heights } = await readHeightsOf(db, leg)
  const read = await timesOf(reader, heights)
  const claimed = height ?? (await claimedHeight(reader, read, from))
  const isUnknown = tx !== null && reading?.kind === 'unknown' && claimed !== null
  const nodes = isUnknown ? await reader.nodesWithout(tx) : []
  const blocks = { found: blockOf(height), claimed: blockOf(claimed), read }
  return {
    search: { kind: 'search', ...named, to, nodes, ...blocks, bookedAt, receivedAt: now },
    failedAt: reading?.kind === 'failed' ? reading.height : null,
    isReadable: height !== null && watched.has(to),
  }
}

function heightIn(reading: NamedReading, address: Address): bigint | null {
  if (reading?.kind !== 'read') return null
  return reading.transfers.find(({ to }) => to === address)?.height ?? null
}

function blockOf(height: bigint | null): { height: bigint } | null {
  return height === null ? null : { height }
}

async function timesOf(
  reader: SearchReader,
  { from, to }: { from: bigint | null; to: bigint | null },
): Promise<LegSearch['read']> {
  if (from === null || to === null) return null
  return {
    from: { height: from, blockAt: await reader.timeAt(from) },
    to: { height: to, blockAt: await reader.timeAt(to) },
  }
}

/** The chain, or the history its nodes keep, may begin within the margin. */
async function claimedHeight(
  reader: SearchReader,
  read: LegSearch['read'],
  from: Date,
): Promise<bigint | null> {
  if (read !== null && read.from.blockAt <= from) return read.from.height
  return (await reader.heightAt(new Date(from.getTime() - reportMarginMs))) ?? (await reader.heightAt(from))
}

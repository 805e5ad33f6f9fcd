import type { HeightRange, OnDemandReader } from '../../chain/types.ts'
import type { Address } from '../../core/asset.ts'
import {
  type BalanceMovement,
  type BalanceSearch,
  type BalanceSpan,
  beginSearch,
  isNarrow,
  narrowSearch,
  nextHeight,
  spansBetween,
  unexplained,
} from '../../core/balance-proof.ts'
import type { ChainTransfer } from '../../core/evidence.ts'
import {
  type DifferenceSearchResult,
  dueDifferences,
  narrowDifference,
  recheckDifferences,
  type StoredDifference,
} from '../../store/chain/balance-differences.ts'
import { knownChanges } from '../../store/chain/balance-points.ts'
import { type ProofRun, readPast, unlessRemote } from './proof-run.ts'
import { storeFinal } from './scan-position.ts'

/** Differences searched together, and batches per run. */
const atOnce = 50
const turnsMax = 4
/** By then the settings may name a node with a longer history. */
const againAfterMs = 3_600_000

/**
 * Finds the block in which the balance changed and reads it again, with traces if the settings allow them.
 * @returns the number of transfers found
 */
export async function narrowDifferences(run: ProofRun): Promise<number> {
  const searchedBefore = new Date(run.now().getTime() - againAfterMs)
  const { network } = run.reader
  const assets = run.settings.assets.map(({ key }) => key)
  let stored = 0
  for (let turn = 0; turn < turnsMax; turn++) {
    const due = await dueDifferences(run.db, { network, searchedBefore, limit: atOnce })
    if (due.length === 0) break
    const { readBalanceHistory: read } = run.reader
    const searched = await (read === undefined ? searchAll(run, due) : walkHistories(run, due, read))
    const rescanned = await rereadRanges(run, searched)
    stored += rescanned.stored
    await run.save(async (tx) => {
      for (const one of rescanned.searched) await narrowDifference(tx, one)
      // Otherwise differences that are explained now would be searched again.
      await recheckDifferences(tx, network, assets)
    })
  }
  return stored
}

type DifferenceSearch = { difference: StoredDifference; search: BalanceSearch; problem: string | null }

/** Searches that need balances at the same height share the request. */
async function searchAll(run: ProofRun, due: readonly StoredDifference[]): Promise<DifferenceSearchResult[]> {
  let open = due.map(
    (difference): DifferenceSearch => ({ difference, search: beginSearch(difference), problem: null }),
  )
  for (;;) {
    const byHeight = Map.groupBy(open, ({ search }) => nextHeight(search))
    byHeight.delete(null)
    if (byHeight.size === 0) break
    const done = open.filter(({ search }) => nextHeight(search) === null)
    const probed: DifferenceSearch[] = []
    for (const [height, same] of byHeight)
      if (height !== null) probed.push(...(await probe(run, height, same)))
    open = [...done, ...probed]
  }
  const at = run.now()
  return open.map(({ difference, search: { start, end }, problem }) => {
    const found = { start, end }
    return { difference, found, problem: isNarrow(found) ? null : problem, at }
  })
}

async function probe(
  run: ProofRun,
  height: bigint,
  open: readonly DifferenceSearch[],
): Promise<DifferenceSearch[]> {
  const past = await readPast(
    run,
    height,
    open.map(({ difference }) => difference.holding),
  )
  if (past.kind === 'gone') {
    const { problem } = past
    return open.map((one) => ({
      ...one,
      search: narrowSearch(one.search, { height, amount: null }, 0n),
      problem,
    }))
  }
  const explained = await knownChanges(
    run.db,
    open.map(({ difference, search }) => ({
      holding: difference.holding,
      above: search.start.height,
      upTo: height,
    })),
  )
  return open.map((one, index) => {
    const amount = past.amounts[index] ?? null
    return { ...one, search: narrowSearch(one.search, { height, amount }, explained[index] ?? 0n) }
  })
}

type ReadHistory = NonNullable<OnDemandReader['readBalanceHistory']>

/**
 * Used on chains without past balances. If two consecutive transactions do not fit together, the unexplained change is
 * between them. A change within a transaction by an unknown amount is in that slot.
 */
async function walkHistories(
  run: ProofRun,
  due: readonly StoredDifference[],
  read: ReadHistory,
): Promise<DifferenceSearchResult[]> {
  const searched: DifferenceSearchResult[] = []
  for (const difference of due)
    searched.push({ difference, ...(await walk(run, difference, read)), at: run.now() })
  return searched
}

type HistoryWalkResult = Pick<DifferenceSearchResult, 'found' | 'problem'>

async function walk(
  { db }: ProofRun,
  difference: StoredDifference,
  read: ReadHistory,
): Promise<HistoryWalkResult> {
  const { holding, start, end } = difference
  const whole: BalanceSpan = { start, end }
  if (isNarrow(whole)) return { found: whole, problem: null }
  const history = await unlessRemote(read({ ...holding, from: start.height + 1n, to: end.height }))
  if (typeof history === 'string') return { found: whole, problem: history }
  const spans = spansBetween(whole, history.balances)
  const explained = await knownChanges(
    db,
    spans.map((span) => ({ holding, above: span.start.height, upTo: span.end.height })),
  )
  // If everything is explained, there is nothing to narrow.
  const found = spans.find((span, index) => unexplained(span, explained[index] ?? 0n) !== 0n) ?? whole
  if (isNarrow(found)) return { found, problem: null }
  const isRest = history.reached < found.end.height
  return { found, problem: isRest ? 'more transactions than one run reads' : unshown }
}

const unshown = 'no transaction listed by the node shows the exact slot'

/** Readings of one range longer than a block. */
const readingsMax = 10
/** Full blocks per run; Solana blocks are megabytes in size. A longer range is read through address histories. */
const blocksMax = 1000n

type RereadResult = { transfers: ChainTransfer[]; movements: BalanceMovement[]; problem: string | null }

/** If a range cannot be read, the reason becomes the problem of its searches. */
async function rereadRanges(
  run: ProofRun,
  searched: readonly DifferenceSearchResult[],
): Promise<{ stored: number; searched: DifferenceSearchResult[] }> {
  const { reader, position, now } = run
  let stored = 0
  let blocksLeft = blocksMax
  const reported: DifferenceSearchResult[] = []
  const ranges = Map.groupBy(searched, ({ found }) => `${found.start.height}-${found.end.height}`)
  for (const same of ranges.values()) {
    const [first] = same
    if (first === undefined) continue
    const watched = new Set(same.map(({ difference }) => difference.holding.address))
    const blocks = first.found.end.height - first.found.start.height
    const byBlock = run.settings.family === 'solana' && blocks <= blocksLeft
    if (byBlock) blocksLeft -= blocks
    const { problem, ...found } = await reread(run, first.found, { watched, byBlock })
    stored += await run.save((tx) =>
      storeFinal(tx, reader.network, { ...found, epoch: position.epoch, now: now() }),
    )
    reported.push(...same.map((one) => ({ ...one, problem: one.problem ?? problem })))
  }
  return { stored, searched: reported }
}

type RereadOptions = { watched: ReadonlySet<Address>; byBlock: boolean }

async function reread(
  run: ProofRun,
  found: BalanceSpan,
  { watched, byBlock }: RereadOptions,
): Promise<RereadResult> {
  const { reader, settings } = run
  // A trace costs far more than a block.
  const traced = isNarrow(found) && settings.reading?.traces !== 'never'
  const all: RereadResult = { transfers: [], movements: [], problem: null }
  let { from, to }: HeightRange = { from: found.start.height + 1n, to: found.end.height }
  for (let readings = 0; from <= to && readings < readingsMax; readings++) {
    const result = await unlessRemote(reader.readRange({ from, to, watched, traced, byBlock }))
    if (typeof result === 'string') {
      // Falls back to address histories, which may be incomplete.
      const rest = byBlock ? await reread(run, found, { watched, byBlock: false }) : all
      return { ...rest, problem: result }
    }
    all.transfers.push(...result.transfers)
    all.movements.push(...result.movements)
    if (result.reached < from) break
    from = result.reached + 1n
  }
  return all
}

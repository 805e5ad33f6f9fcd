import type { ReaderBounds } from '../options.ts'
import { refusal } from '../pool.ts'
import type {
  BalanceMovement,
  BlockMark,
  ChainTransfer,
  FinalityStage,
  HeightRange,
  StagedTransfer,
} from '../types.ts'
import { openCache, readBlocks, readsWhole } from './blocks.ts'
import { requireHead } from './finality.ts'
import { type BlockLink, checkLinks, type EvmBlock, HeaderQueue, transferIn } from './headers.ts'
import { type PieceReading, readInPieces } from './in-pieces.ts'
import { chooseLogStrategy, type LogStrategy } from './log-cost.ts'
import { type PieceLogs, queriesOf, queryCount, readLogs } from './logs.ts'
import { readNative, withoutPayments } from './native.ts'
import type { EvmScan } from './node.ts'
import { newLogSpan } from './range-planner.ts'
import { refuseOmissions, skipOddLogs } from './receipts.ts'
import type { TransferLog } from './transfer-log.ts'

export type Track = {
  stage: FinalityStage
  from: bigint
  to: bigint
  previous: BlockMark | null
  /** Logs are read again from here, at most `from`: they may have reached the node late. */
  again?: bigint
  /** Its blocks are cached for the next scan. */
  isOfScan?: true
  /** No log query follows, so the node's head shows whether it had all the blocks. */
  isLast: boolean
}

/** Everything up to `last` was read: the range may be longer than one scan reads. */
type TrackResult = {
  transfers: readonly StagedTransfer[]
  movements: readonly BalanceMovement[]
  last: BlockMark
  /** Newest first. */
  marks: readonly BlockMark[]
}

/** Blocks are read after the logs, so that a log of a replaced block is detected. */
export async function readTrack(scan: EvmScan, track: Track): Promise<TrackResult> {
  const headers = new HeaderQueue(scan)
  const { pieces: reading, reached } = await readParts(scan, track, headers)
  const marked =
    track.isOfScan && track.stage === 'final' ? markHeights({ from: track.from, to: reached }) : []
  // Whole blocks already include these.
  const ends = readsWhole(scan.watch) ? [] : reached < track.to ? [reached, ...marked] : marked
  const reads = ends.map((height) => headers.read(height))
  headers.flush()
  // The head is read after all logs, in parallel with the last blocks.
  const head = track.isLast ? requireHead(scan, reached) : null
  const [pieces, blocks] = await Promise.all([Promise.all(reading), Promise.all(reads), head])
  const links = new Map(pieces.flatMap((piece) => piece.links))
  for (const block of blocks) links.set(block.height, linkOf(block))
  checkLinks(scan.node, links, track.previous)
  return {
    transfers: pieces.flatMap(({ transfers }) => transfers.map((one) => ({ ...one, stage: track.stage }))),
    movements: pieces.flatMap(({ movements }) => movements),
    last: { height: reached, hash: links.get(reached)?.hash ?? '' },
    marks: marked.flatMap((height) => {
      const hash = links.get(height)?.hash
      return hash === undefined ? [] : [{ height, hash }]
    }),
  }
}

type TrackPieces = { pieces: Promise<PieceFound>[]; reached: bigint }

/** A part is short if its strategy is only measured. */
async function readParts(scan: EvmScan, track: Track, headers: HeaderQueue): Promise<TrackPieces> {
  const { bounds, node } = scan
  const progress = { found: 0, blocks: 0, failed: false, endsMs: performance.now() + bounds.scanMs }
  const pieces: Promise<PieceFound>[] = []
  let from = track.again ?? track.from
  for (let isWhole = true; isWhole && from <= track.to; ) {
    const { strategy, to } = strategyFor(scan, { from: from < track.from ? track.from : from, to: track.to })
    const part = await readPart(scan, { track, range: { from, to }, strategy, headers, progress })
    pieces.push(...part.pieces)
    isWhole = part.reached === to
    from = part.reached + 1n
  }
  if (progress.blocks > 0) node.logs.transfersPerBlock = progress.found / progress.blocks
  return { pieces, reached: from - 1n }
}

type TrackReadContext = {
  track: Track
  range: HeightRange
  strategy: LogStrategy
  headers: HeaderQueue
  progress: TrackProgress
}

async function readPart(
  scan: EvmScan,
  { track, range, strategy, headers, progress }: TrackReadContext,
): Promise<TrackPieces> {
  const { node, bounds } = scan
  const queries = queryCount(scan) === 0 ? [] : queriesOf(scan, strategy)
  const perBlockBefore = node.logs.transfersPerBlock
  const { results, reached } = await readInPieces({
    range,
    span: queries.length === 0 ? { ...newLogSpan(), accepted: range.to } : node.logs.spans[strategy],
    logsMax: bounds.logsPerAnswerMax,
    // Some pieces wait for a node that asked to slow down; the surplus is ready to send.
    atOnce: bounds.requestsAtOnce * 2,
    isFirstAlone: progress.blocks === 0 && perBlockBefore === null,
    isEnough: (next) => isEnough(bounds, { ...progress, perBlockBefore }, next - track.from),
    read: async (piece, step) => {
      const reading = queries.length === 0 ? noLogs : await readLogs(scan, queries, { piece, step })
      if (!('result' in reading)) return reading
      progress.found += reading.result.transfers.length
      progress.blocks += Number(step.blocks)
      const found = readPiece(scan, track, { piece, headers, strategy, ...reading.result })
      found.catch(() => {
        progress.failed = true
      })
      if (headers.length > headersWaitingMax) {
        headers.flush()
        await found.catch(() => null)
      }
      return { logs: reading.logs, result: found }
    },
  })
  return { pieces: results, reached }
}

const headersWaitingMax = 400

type TrackProgress = { found: number; blocks: number; failed: boolean; endsMs: number }

/**
 * Estimates by the density of this track or an earlier one. `blocksRead` counts from the start of the range; blocks
 * below it are always read again completely.
 */
function isEnough({ transfersPerScan }: ReaderBounds, progress: TrackEstimate, blocksRead: bigint): boolean {
  const { found, blocks, failed, endsMs, perBlockBefore } = progress
  const perBlock = blocks === 0 ? (perBlockBefore ?? 0) : found / blocks
  const isFull = perBlock * Number(blocksRead) >= transfersPerScan
  return failed || (blocksRead > 0n && (isFull || performance.now() > endsMs))
}

type TrackEstimate = TrackProgress & { perBlockBefore: number | null }

/** Whole blocks cost one request each. */
export function trackBlocksMax({ watch, bounds }: EvmScan): bigint {
  return readsWhole(watch) ? bounds.blocksPerScan : bounds.logBlocksPerScan
}

function strategyFor(scan: EvmScan, { from, to }: HeightRange) {
  const { strategy, blocksMax } = chooseLogStrategy(scan.node.logs, {
    blocks: to - from + 1n,
    queries: queryCount(scan),
    logsMax: scan.bounds.logsPerAnswerMax,
  })
  return { strategy, to: blocksMax === null || from + blocksMax > to ? to : from + blocksMax - 1n }
}

type PieceFound = { transfers: ChainTransfer[]; movements: BalanceMovement[]; links: [bigint, BlockLink][] }

const noLogs: PieceReading<PieceLogs> = { logs: 0, result: { transfers: [], odd: [], writers: new Map() } }

async function readPiece(
  scan: EvmScan,
  { stage, from, to, isOfScan }: Track,
  {
    piece,
    headers,
    strategy,
    writers,
    transfers,
    odd,
  }: PieceLogs & { piece: HeightRange; headers: HeaderQueue; strategy: LogStrategy },
): Promise<PieceFound> {
  // Below `from`, payments and their EIP-7708 logs cannot be distinguished without the blocks.
  const logs = transfers.filter(({ height, asset }) => height >= from || asset !== scan.watch.native)
  const blocks = await readBlocks(scan, {
    range: { from: piece.from < from ? from : piece.from, to: piece.to },
    named: [
      ...logs.map(({ height }) => height),
      ...odd.flatMap(({ height }) => height ?? []),
      ...[from, to].filter((end) => end >= piece.from && end <= piece.to),
    ],
    headers,
    cache: isOfScan ? openCache(scan) : null,
    isFinal: stage === 'final',
  })
  const payments = [...blocks.values()].flatMap((block) => block.payments)
  const tokens = withoutPayments(scan, logs, payments).map((log) =>
    tokenTransfer(scan, blocks.get(log.height), log),
  )
  if (stage === 'final') {
    await skipOddLogs(scan, blocks, { logs: transfers, odd })
    await refuseOmissions(scan, blocks, { logs, writers: strategy === 'contracts' ? writers : null })
  }
  const coins = await readNative(scan, blocks, stage)
  const links = [...blocks.values()].map((block): [bigint, BlockLink] => [block.height, linkOf(block)])
  return { transfers: [...tokens, ...coins.transfers], movements: coins.movements, links }
}

function linkOf({ hash, parentHash }: EvmBlock): BlockLink {
  return { hash, parentHash }
}

export function tokenTransfer(scan: EvmScan, block: EvmBlock | undefined, log: TransferLog): ChainTransfer {
  const { tx, asset, from, to, value, height, blockHash, logIndex } = log
  if (block?.hash !== blockHash)
    throw refusal(scan.node, `log ${logIndex} of ${tx}`, `its block ${blockHash} is not the one at ${height}`)
  return transferIn(scan, block, { tx, index: logIndex.toString(), asset, from, to, value })
}

const marksMax = 64

/** A gap grows with the distance from the newest block: 64 marks then reach back over 100,000 blocks. */
const gapDivisor = 2n

/** Returning to the beginning of a shorter reading costs little. */
const blocksUnmarked = 64n

/**
 * Each height is half as far again from the end as the one before, so that a change of history can be traced to about
 * its start.
 */
export function markHeights({ from, to }: HeightRange): bigint[] {
  if (to - from < blocksUnmarked) return []
  const heights: bigint[] = []
  for (let distance = 1n; to - distance >= from; distance += distance / gapDivisor || 1n)
    heights.push(to - distance)
  return heights
}

/**
 * Newest first, closer together near `newest`, at most 64. A mark is dropped only if the next older one bridges the
 * gap; otherwise none would grow old.
 */
export function extendTrail(newest: BlockMark, marks: readonly BlockMark[]): BlockMark[] {
  const below = marks.filter(({ height }) => height < newest.height)
  const kept: BlockMark[] = []
  let last = newest
  for (const [place, mark] of below.entries()) {
    const older = below[place + 1]
    const bridged =
      older !== undefined && (last.height - older.height) * gapDivisor <= newest.height - last.height
    if (bridged) continue
    kept.push(mark)
    last = mark
  }
  return kept.slice(0, marksMax)
}

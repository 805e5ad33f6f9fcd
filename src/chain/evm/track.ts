import { toAmount } from '../../core/money.ts'
import type { ReaderBounds } from '../options.ts'
import type {
  BalanceMovement,
  BlockMark,
  ChainTransfer,
  FinalityStage,
  HeightRange,
  StagedTransfer,
} from '../port.ts'
import {
  type BlockLink,
  type Blocks,
  checkLinks,
  createHeaders,
  type EvmBlock,
  type Headers,
  openCache,
  readBlocks,
  readsWhole,
} from './blocks.ts'
import { requireHead } from './finality.ts'
import { type PieceReading, readInPieces } from './in-pieces.ts'
import { chooseWay, type LogWay } from './log-cost.ts'
import { type PieceLogs, queriesOf, queryCount, readLogs } from './logs.ts'
import { readNative, withoutPayments } from './native.ts'
import { refusal } from './node.ts'
import { passOverOdd, refuseOmissions } from './omission.ts'
import { newLogSpan } from './range-planner.ts'
import { markHeights } from './trail.ts'
import type { TransferLog } from './transfer-log.ts'
import type { EvmScan } from './watch.ts'

/** A stretch of blocks to be read at one stage. */
export type Track = {
  stage: FinalityStage
  from: bigint
  to: bigint
  /** The block below it, where its hash is known. */
  previous: BlockMark | null
  /** Logs are read again from here, which is not above `from`: they may have come to the node late. */
  again?: bigint
  /** Of the network's own scan: what it reads is remembered for the next one. */
  isOfScan?: true
  /** No logs are asked for after these, so that the node's head tells whether it had the blocks of all. */
  isLast: boolean
}

/** `last` is the highest block up to which all was read: the stretch may be longer than one scan reads. */
type TrackResult = {
  transfers: readonly StagedTransfer[]
  movements: readonly BalanceMovement[]
  last: BlockMark
  /** Below it, newest first. */
  marks: readonly BlockMark[]
}

/** Reads a stretch. The blocks are read after the logs, so that a log of a block that was replaced shows. */
export async function readTrack(scan: EvmScan, track: Track): Promise<TrackResult> {
  const headers = createHeaders(scan)
  const { pieces: reading, reached } = await readParts(scan, track, headers)
  const marked =
    track.isOfScan && track.stage === 'final' ? markHeights({ from: track.from, to: reached }) : []
  // Of blocks that are read whole these are there.
  const ends = readsWhole(scan.watch) ? [] : reached < track.to ? [reached, ...marked] : marked
  const reads = ends.map((height) => headers.read(height))
  headers.flush()
  // The head is asked after all logs, and while the last blocks are read.
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

/** Reads part after part until enough was found: where a way is only measured, the part is short and the next longer. */
async function readParts(scan: EvmScan, track: Track, headers: Headers): Promise<TrackPieces> {
  const { bounds, node } = scan
  const progress = { found: 0, blocks: 0, failed: false, endsMs: performance.now() + bounds.scanMs }
  const pieces: Promise<PieceFound>[] = []
  let from = track.again ?? track.from
  for (let isWhole = true; isWhole && from <= track.to; ) {
    const { way, to } = wayOf(scan, { from: from < track.from ? track.from : from, to: track.to })
    const part = await readPart(scan, { track, range: { from, to }, way, headers, progress })
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
  way: LogWay
  headers: Headers
  progress: TrackProgress
}

async function readPart(
  scan: EvmScan,
  { track, range, way, headers, progress }: TrackReadContext,
): Promise<TrackPieces> {
  const { node, bounds } = scan
  const queries = queryCount(scan) === 0 ? [] : queriesOf(scan, way)
  const perBlockBefore = node.logs.transfersPerBlock
  const { results, reached } = await readInPieces({
    range,
    span: queries.length === 0 ? { ...newLogSpan(), taken: range.to } : node.logs.spans[way],
    logsMax: bounds.logsPerAnswerMax,
    // Some wait for a node that asked to slow down; meanwhile there is always one to send.
    atOnce: bounds.requestsAtOnce * 2,
    isFirstAlone: progress.blocks === 0 && perBlockBefore === null,
    isEnough: (next) => isEnough(bounds, { ...progress, perBlockBefore }, next - track.from),
    read: async (piece, step) => {
      const reading = queries.length === 0 ? noLogs : await readLogs(scan, queries, { piece, step })
      if (!('result' in reading)) return reading
      progress.found += reading.result.transfers.length
      progress.blocks += Number(step.blocks)
      const found = readPiece(scan, track, { piece, headers, way, ...reading.result })
      found.catch(() => {
        progress.failed = true
      })
      // While blocks are read, so are the logs of the next pieces, unless too many wait.
      if (headers.waiting() > headersWaitingMax) {
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
 * Tells by what was found already, or before on this node, how many transfers those blocks hold that were taken up,
 * `taken` of them above where the stretch begins. What is read again below it is always read whole.
 */
function isEnough({ transfersPerScan }: ReaderBounds, progress: TrackEstimate, taken: bigint): boolean {
  const { found, blocks, failed, endsMs, perBlockBefore } = progress
  const perBlock = blocks === 0 ? (perBlockBefore ?? 0) : found / blocks
  const isFull = perBlock * Number(taken) >= transfersPerScan
  return failed || (taken > 0n && (isFull || performance.now() > endsMs))
}

type TrackEstimate = TrackProgress & { perBlockBefore: number | null }

/** How many blocks one track may be long. Blocks that are read whole cost a request each. */
export function trackBlocksMax({ watch, bounds }: EvmScan): bigint {
  return readsWhole(watch) ? bounds.blocksPerScan : bounds.logBlocksPerScan
}

function wayOf(scan: EvmScan, { from, to }: HeightRange) {
  const { way, blocksMax } = chooseWay(scan.node.logs, {
    blocks: to - from + 1n,
    queries: queryCount(scan),
    logsMax: scan.bounds.logsPerAnswerMax,
  })
  return { way, to: blocksMax === null || from + blocksMax > to ? to : from + blocksMax - 1n }
}

type PieceFound = { transfers: ChainTransfer[]; movements: BalanceMovement[]; links: [bigint, BlockLink][] }

const noLogs: PieceReading<PieceLogs> = { logs: 0, result: { transfers: [], odd: [], heard: new Map() } }

async function readPiece(
  scan: EvmScan,
  { stage, from, to, isOfScan }: Track,
  {
    piece,
    headers,
    way,
    heard,
    transfers,
    odd,
  }: PieceLogs & { piece: HeightRange; headers: Headers; way: LogWay },
): Promise<PieceFound> {
  // Of what is read again only tokens count: without their blocks, payments and their own logs cannot be told apart.
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
  const tokens = withoutPayments(scan, logs, payments).map((log) => tokenTransfer(scan, blocks, log))
  if (stage === 'final') {
    await passOverOdd(scan, blocks, { logs: transfers, odd })
    await refuseOmissions(scan, blocks, { logs, heard: way === 'contracts' ? heard : null })
  }
  const coins = await readNative(scan, blocks, stage)
  const links = [...blocks.values()].map((block): [bigint, BlockLink] => [block.height, linkOf(block)])
  return { transfers: [...tokens, ...coins.transfers], movements: coins.movements, links }
}

function linkOf({ hash, parentHash }: EvmBlock): BlockLink {
  return { hash, parentHash }
}

export function tokenTransfer({ node, watch }: EvmScan, blocks: Blocks, log: TransferLog): ChainTransfer {
  const block = blocks.get(log.height)
  if (block === undefined || block.hash !== log.blockHash) {
    throw refusal(
      node,
      `log ${log.logIndex} of ${log.tx}`,
      `its block ${log.blockHash} is not the one at ${log.height}`,
    )
  }
  return {
    network: watch.network,
    tx: log.tx,
    index: log.logIndex.toString(),
    asset: log.asset,
    from: log.from,
    to: log.to,
    amount: toAmount(log.value),
    height: log.height,
    blockHash: block.hash,
    blockAt: block.at,
  }
}

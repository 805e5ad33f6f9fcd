import { Fault } from '../../core/errors.ts'
import { highest, lowest } from '../heights.ts'
import { rpcSetting } from '../options.ts'
import { refusal } from '../pool.ts'
import type { BlockMark, ScanCursor, ScanRequest, ScanResult } from '../types.ts'
import { readEnds } from './finality.ts'
import { type EvmBlock, readHeader } from './headers.ts'
import type { EvmScan } from './node.ts'
import { extendTrail, readTrack, type Track, trackBlocksMax } from './track.ts'

/** Blocks below the last transfer that are read again: a replaced block may contain a new one. */
const seenOverlap = 4n

/** `alone`: believed without a second node. */
type ScanHeads = { head: EvmBlock; final: BlockMark; alone: boolean }

/**
 * Reads two tracks: blocks that became final, believed only from this reading, and blocks above, which may still
 * vanish.
 * @throws Fault `remote_failed` if the node's answers are not credible; `history_lost` if every mark was replaced
 */
export async function scanOn(scan: EvmScan, request: ScanRequest): Promise<ScanResult> {
  const isUnchanged =
    request.cursor === null ? Promise.resolve(true) : isCanonical(scan, request.cursor.final)
  // Prevents an unhandled rejection: the error counts only once the node is known to have reached that height.
  isUnchanged.catch(() => null)
  const { head, final } = await readEnds(scan)
  const ends = await capEnds(scan, { head, final: final ?? waitingAt(scan, request) }, request)
  const cursor = request.cursor ?? (await firstCursor(scan, ends, request.startHeight))
  if (head.height < cursor.final.height) {
    const problem = `its head ${head.height} is below block ${cursor.final.height}, which was read as final`
    throw refusal(scan.node, 'head', problem)
  }
  if (await isUnchanged) return readOn(scan, ends, cursor)
  return rewound(ends, await newestValid(scan, cursor))
}

/**
 * Without a final block, the previous one stands, and everything above it waits.
 * @throws Fault `remote_failed` if nothing was read yet, because there is no height to wait at
 */
function waitingAt({ node, watch }: EvmScan, { cursor }: ScanRequest): BlockMark {
  if (cursor !== null) return cursor.final
  const rule = watch.finality.kind === 'tag' ? watch.finality.tag : 'final'
  throw refusal(node, `block ${rule}`, 'the node has none yet, so there is no height to start from')
}

async function capEnds(
  { node }: EvmScan,
  ends: Omit<ScanHeads, 'alone'>,
  { finalMax, finalOnly }: ScanRequest,
): Promise<ScanHeads> {
  const final =
    finalMax === undefined || ends.final.height <= finalMax ? ends.final : await readHeader(node, finalMax)
  const head = finalOnly ? { ...ends.head, height: final.height } : ends.head
  return { head, final, alone: finalMax === undefined }
}

/** The genesis block holds no transfer, so reading can start above a block. */
async function firstCursor(
  { node }: EvmScan,
  { final }: ScanHeads,
  startHeight: bigint | null,
): Promise<ScanCursor> {
  const below = startHeight === null ? final.height : startHeight - 1n
  const height = highest(0n, lowest(below, final.height))
  const hash = height === final.height ? final.hash : (await readHeader(node, height)).hash
  return { final: { height, hash }, seenHeight: height, trail: [] }
}

/** The cursor is cut back to the newest mark that is still part of the chain. */
async function newestValid(scan: EvmScan, cursor: ScanCursor): Promise<ScanCursor> {
  for (const [index, mark] of cursor.trail.entries()) {
    if (await isCanonical(scan, mark)) {
      return { final: mark, seenHeight: mark.height, trail: cursor.trail.slice(index + 1) }
    }
  }
  throw historyLost(scan, cursor)
}

async function isCanonical({ node }: EvmScan, mark: BlockMark): Promise<boolean> {
  return (await readHeader(node, mark.height)).hash === mark.hash
}

function historyLost({ watch }: EvmScan, { final, trail }: ScanCursor): Fault<'history_lost'> {
  const oldest = trail.at(-1) ?? final
  return new Fault('history_lost', {
    network: watch.network,
    problem: `none of the stored blocks between ${oldest.height} and ${final.height} is part of the chain any more`,
    fix: `check that ${rpcSetting(watch.network)} points to the right chain; if its history did change, rescan it: bin/depositd backfill --network ${watch.network} --from HEIGHT`,
  })
}

const nothing = { transfers: [], movements: [], proved: [], dissent: [] }

function rewound({ head }: ScanHeads, cursor: ScanCursor): ScanResult {
  return { ...nothing, cursor, headHeight: head.height, rewoundTo: cursor.final.height, more: true }
}

async function readOn(scan: EvmScan, ends: ScanHeads, cursor: ScanCursor): Promise<ScanResult> {
  const [finalTrack, seenTrack] = [finalTrackOf(scan, ends, cursor), seenTrackOf(scan, ends, cursor)]
  const final =
    finalTrack === null
      ? { ...nothing, last: cursor.final, marks: [] }
      : await readTrack(scan, { ...finalTrack, isLast: seenTrack === null })
  const seen =
    seenTrack === null
      ? { ...nothing, last: final.last }
      : await readTrack(scan, { ...seenTrack, previous: previousOf(seenTrack, final.last) })
  const reached = highest(seen.last.height, final.last.height)
  return {
    ...nothing,
    transfers: [...final.transfers, ...seen.transfers],
    movements: final.movements,
    proved:
      final.last.height > cursor.final.height
        ? [{ from: cursor.final.height + 1n, to: final.last.height }]
        : [],
    cursor: {
      final: final.last,
      seenHeight: reached,
      trail: extendTrail(final.last, [...final.marks, cursor.final, ...cursor.trail]),
    },
    headHeight: ends.head.height,
    rewoundTo: null,
    more: final.last.height < ends.final.height || seen.last.height < ends.head.height,
  }
}

function finalTrackOf(
  scan: EvmScan,
  ends: ScanHeads,
  { final, trail }: ScanCursor,
): Omit<Track, 'isLast'> | null {
  const from = final.height + 1n
  const to = lowest(ends.final.height, ends.head.height, final.height + trackBlocksMax(scan))
  if (to < from) return null
  const track = { stage: 'final', from, to, previous: final, isOfScan: true } as const
  const isNear = ends.final.height - final.height <= nearHead && to / againEvery > final.height / againEvery
  if (!isNear || !ends.alone) return track
  // Blocks below all marks were never read.
  const lowestRead = (trail.at(-1) ?? final).height + 1n
  return { ...track, again: highest(lowestRead, from - 2n * againEvery) }
}

/**
 * When the final head moves by `againEvery` blocks, the logs of twice as many below are read again: a node may have
 * answered without their logs. Further than `nearHead` from the head it has had time. With a quorum, an omission shows
 * as a disagreement.
 */
const againEvery = 64n
const nearHead = 1024n

/**
 * Starts above the finalized head even if the final track, which will read the rest, is behind. Blocks read again do
 * not count against the limit: otherwise a small limit would never get past them.
 */
function seenTrackOf(
  scan: EvmScan,
  ends: ScanHeads,
  { final, seenHeight }: ScanCursor,
): Omit<Track, 'previous'> | null {
  const seen = lowest(seenHeight, ends.head.height)
  const below = highest(seen - seenOverlap, ends.final.height, final.height)
  const to = lowest(ends.head.height, highest(seen, below) + trackBlocksMax(scan))
  return to <= below ? null : { stage: 'seen', from: below + 1n, to, isLast: true, isOfScan: true }
}

function previousOf({ from }: Pick<Track, 'from'>, last: BlockMark): BlockMark | null {
  return last.height + 1n === from ? last : null
}

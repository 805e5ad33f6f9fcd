import type { RangeRequest, RangeResult } from '../port.ts'
import { readFinalHead } from './finality.ts'
import { readTrack, trackBlocksMax } from './track.ts'
import type { EvmScan } from './watch.ts'

/**
 * Reads a stretch of final blocks for its own sake, whatever was read before: as much of it as one scan reads.
 * `reached` is below `from` where nothing of the stretch is final yet.
 * @throws Fault `remote_failed` where the node cannot be believed
 */
export async function readRange(asked: EvmScan, { from, to, traced }: RangeRequest): Promise<RangeResult> {
  const scan = traced === true ? { ...asked, watch: { ...asked.watch, traced } } : asked
  const final = (await readFinalHead(scan))?.height ?? -1n
  const bound = from + blocksMax(scan) - 1n
  const end = [to, final, bound].reduce((low, height) => (height < low ? height : low))
  if (end < from) return { transfers: [], movements: [], proved: [], dissent: [], reached: from - 1n }
  const track = await readTrack(scan, { stage: 'final', from, to: end, previous: null, isLast: true })
  const reached = track.last.height
  return {
    transfers: track.transfers.map(({ stage: _final, ...transfer }) => transfer),
    movements: track.movements,
    proved: [{ from, to: reached }],
    dissent: [],
    reached,
    reachedHash: track.last.hash,
  }
}

/** A trace costs a node many times what a block does. */
function blocksMax(scan: EvmScan): bigint {
  const { tracesPerReading } = scan.bounds
  const most = trackBlocksMax(scan)
  return scan.watch.traced && most > tracesPerReading ? tracesPerReading : most
}

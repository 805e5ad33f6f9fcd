import { listBlocks, readBlock, readHead } from './blocks.ts'
import { readFinalMark } from './final-mark.ts'
import { refusal } from './node.ts'
import { firstAvailable } from './signatures.ts'
import type { SolanaScan } from './watch.ts'

/** A slot with a block, and when that was made. */
type SlotDate = { slot: bigint; at: Date }

/** A slot takes 400 ms at least, so that so many milliseconds back are not more slots back than this tells. */
const slotMsMin = 350

/**
 * The last final slot whose block is not after that time; null where the first block that the node has is after it.
 * @throws Fault `remote_failed`
 */
export async function heightAt(scan: SolanaScan, wanted: Date): Promise<bigint | null> {
  const final = await readFinalMark(scan)
  const newest = { slot: final.height, at: (await readBlock(scan, final.height)).at }
  if (newest.at <= wanted) return newest.slot
  const first = (await firstAvailable(scan.node)) ?? 0n
  const oldest = await blockFrom(scan, guessBelow(newest, wanted, first))
  const below = oldest.at <= wanted ? oldest : await blockFrom(scan, first)
  return below.at <= wanted ? halve(scan, { below, above: newest.slot, wanted }) : null
}

function guessBelow({ slot, at }: SlotDate, wanted: Date, first: bigint): bigint {
  const guess = slot - BigInt(Math.ceil((at.getTime() - wanted.getTime()) / slotMsMin)) - 1n
  return guess > first ? guess : first
}

/** From slot `above` on, blocks are later than wanted. */
type SlotSearch = { below: SlotDate; above: bigint; wanted: Date }

async function halve(scan: SolanaScan, { below, above, wanted }: SlotSearch): Promise<bigint> {
  let [low, high] = [below.slot, above]
  while (high - low > 1n) {
    const middle = (low + high) / 2n
    const { slot, at } = await blockFrom(scan, middle)
    if (at > wanted) high = middle
    else low = slot
  }
  return low
}

/** The first block in a slot or behind it. */
export async function blockFrom(scan: SolanaScan, slot: bigint): Promise<SlotDate> {
  const [found] = await listBlocks(scan, slot, 1)
  const head = found === undefined ? null : await readHead(scan, found)
  if (head === null) throw refusal(scan.node, `block from slot ${slot} on`, 'it cannot be read')
  return head
}

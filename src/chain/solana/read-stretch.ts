import { mapBounded } from '../map-bounded.ts'
import { accountsOf } from './accounts.ts'
import { readByBlock } from './by-block.ts'
import { readByOwner } from './by-owner.ts'
import {
  chooseWay,
  noteCost,
  noteFailure,
  type SolanaReadStrategy,
  type StrategyChoice,
} from './choose-way.ts'
import { listSignatures } from './signatures.ts'
import type { SlotRange, SlotRangeReading } from './stretch.ts'
import type { SolanaScan, SolanaWatch } from './watch.ts'

/** Final slots to be read: what a stretch is, before it is known how it is read. */
export type SlotRangeRequest = Omit<SlotRange, 'blocksMax'>

/** Reads in the way that costs less: few owners one by one, many by picking them out of every block. */
export async function readStretch(scan: SolanaScan, wanted: SlotRangeRequest): Promise<SlotRangeReading> {
  const { way, trial } = await chosenWay(scan, wanted)
  const startedMs = performance.now()
  const blocksMax = trial ? scan.bounds.requestsAtOnce : scan.bounds.slotsPerScan
  const read = await readers[way](scan, { ...wanted, blocksMax }).catch((error: unknown) => {
    noteFailure(scan.memory.costs, way)
    throw error
  })
  const units = way === 'by_owner' ? scan.watch.owners.size : Number(read.reached - wanted.from) + 1
  if (units > 0) noteCost(scan.memory.costs, way, (performance.now() - startedMs) / units)
  return read
}

const readers: Record<SolanaReadStrategy, typeof readByOwner> = {
  by_owner: readByOwner,
  by_block: readByBlock,
}

async function chosenWay(
  scan: SolanaScan,
  wanted: SlotRangeRequest,
): Promise<{ way: SolanaReadStrategy; trial: boolean }> {
  if (scan.way !== null) return { way: scan.way, trial: false }
  const choice = choose(scan, wanted)
  if (choice.way !== 'measure_owners') return choice
  await measureOwners(scan, wanted)
  return { way: 'by_block', trial: true }
}

function choose({ watch, memory }: SolanaScan, { from, to }: SlotRangeRequest): StrategyChoice {
  return chooseWay(memory.costs, { ...ownersOf(watch), slots: Number(to - from) + 1 })
}

/** How many owners there are, and what listing one takes: his own history, and for each mint his accounts and one's. */
export function ownersOf({ owners, mints }: Pick<SolanaWatch, 'owners' | 'mints'>) {
  return { owners: owners.size, requestsPerOwner: 1 + 2 * mints.size }
}

/** Lists a few owners, as many as are asked for at once, to learn what one costs. */
async function measureOwners(scan: SolanaScan, { from, to }: SlotRangeRequest): Promise<void> {
  const { requestsAtOnce } = scan.bounds
  const some = [...scan.watch.owners].slice(0, requestsAtOnce)
  const startedMs = performance.now()
  await mapBounded(some, requestsAtOnce, async (owner) => {
    for (const account of await accountsOf(scan, owner, to)) {
      await listSignatures(scan, { account, floor: from, slot: to })
    }
  })
  noteCost(scan.memory.costs, 'by_owner', (performance.now() - startedMs) / some.length)
}

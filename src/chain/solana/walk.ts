import type { Address } from '../../core/asset.ts'
import type { ListedSignature } from './signatures.ts'
import type { SlotRange } from './slot-range.ts'

/** Consecutive slot ranges that were read by owner on one node. */
export type OwnerWalk = {
  /** The start of the first range. */
  since: bigint
  /** The start of the next range. */
  next: bigint
  /** Listed transactions after the last range that are not read yet, oldest first: complete up to slot `to`. */
  waiting: readonly ListedSignature[]
  to: bigint
  /** The owners for which they were listed. */
  owners: ReadonlySet<Address>
}

/** One walk for scans, and one for separate ranges. */
export type Walks = { scan: OwnerWalk | null; range: OwnerWalk | null }

/** Above this, the waiting transactions are dropped and listed again. */
const waitingMax = 100_000

/** The walk that a range continues; null if it starts a new one. */
export function walkOf(walks: Walks, range: SlotRange): OwnerWalk | null {
  const walk = walks[kindOf(range)]
  return walk?.next === range.from ? walk : null
}

/** The transactions already listed for a range that continues a walk; null if they must be listed. */
export function waitingFor(
  walk: OwnerWalk | null,
  { to }: SlotRange,
  owners: ReadonlySet<Address>,
): Pick<OwnerWalk, 'waiting' | 'to'> | null {
  if (walk === null || walk.waiting.length === 0 || walk.to > to) return null
  return owners.size === walk.owners.size && owners.isSubsetOf(walk.owners) ? walk : null
}

/** Stores the progress of a walk. */
export function keepWalk(walks: Walks, range: SlotRange, walk: OwnerWalk): void {
  walks[kindOf(range)] = { ...walk, waiting: walk.waiting.length > waitingMax ? [] : walk.waiting }
}

function kindOf({ below }: SlotRange): keyof Walks {
  return below === null ? 'range' : 'scan'
}

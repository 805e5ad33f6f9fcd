import type { Address } from '../../core/asset.ts'
import type { ListedSignature } from './signatures.ts'
import type { SlotRange } from './stretch.ts'

/** Stretches that were read one behind the other, by owner, on one node. */
export type OwnerWalk = {
  /** Where the first of them began. */
  since: bigint
  /** Where the next one begins. */
  next: bigint
  /** What was listed behind the last of them and is not read yet, oldest first: all there is up to slot `to`. */
  waiting: readonly ListedSignature[]
  to: bigint
  /** For whom it was listed. */
  owners: ReadonlySet<Address>
}

/** One for scans, one for stretches that are read for their own sake. */
export type Walks = { scan: OwnerWalk | null; range: OwnerWalk | null }

/** What waits beyond that is listed again. */
const waitingMax = 100_000

/** The walk that a stretch goes on with; null where it begins one. */
export function walkOf(walks: Walks, stretch: SlotRange): OwnerWalk | null {
  const walk = walks[kindOf(stretch)]
  return walk?.next === stretch.from ? walk : null
}

/** What was listed already for a stretch that goes on with a walk; null where it has to be listed. */
export function waitingFor(
  walk: OwnerWalk | null,
  { to }: SlotRange,
  owners: ReadonlySet<Address>,
): Pick<OwnerWalk, 'waiting' | 'to'> | null {
  if (walk === null || walk.waiting.length === 0 || walk.to > to) return null
  return owners.size === walk.owners.size && owners.isSubsetOf(walk.owners) ? walk : null
}

/** Keeps where a walk has come to. */
export function keepWalk(walks: Walks, stretch: SlotRange, walk: OwnerWalk): void {
  walks[kindOf(stretch)] = { ...walk, waiting: walk.waiting.length > waitingMax ? [] : walk.waiting }
}

function kindOf({ below }: SlotRange): keyof Walks {
  return below === null ? 'range' : 'scan'
}

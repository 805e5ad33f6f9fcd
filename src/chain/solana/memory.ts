import type { Address } from '../../core/asset.ts'
import { type Costs, noCosts } from './choose-way.ts'
import type { MintAccountInfo } from './mints.ts'
import type { ListedSignature } from './signatures.ts'
import type { Effects } from './transactions.ts'
import type { Walks } from './walk.ts'

/** Hash and time of a final slot's block. */
export type SlotBlock = { hash: string; at: Date }

/**
 * Cached data that cannot change, because it is final. It only saves requests: a repeated scan has the same result.
 * Oldest entries are dropped first.
 */
export type SolanaMemory = {
  blocks: BoundedMap<bigint, SlotBlock>
  /** By signature. */
  effects: BoundedMap<string, Effects>
  /** Token accounts found before, by owner: a closed account is no longer listed, but still has its history. */
  accounts: BoundedMap<Address, ReadonlySet<string>>
  mints: BoundedMap<Address, MintAccountInfo>
  /** The newest entry of each account's history, when it was last listed. */
  newest: BoundedMap<string, ListedSignature>
  /** The first slot whose block the node has, from its last answer; null if it does not report it. */
  firstSlot: bigint | null
  /** Reading progress by owner. */
  readonly walks: Walks
  /** The cost of reading on this node. */
  readonly costs: Costs
}

const entriesMax = 10_000

export function emptyMemory(): SolanaMemory {
  return {
    blocks: boundedMap(entriesMax),
    effects: boundedMap(entriesMax),
    accounts: boundedMap(entriesMax),
    mints: boundedMap(entriesMax),
    newest: boundedMap(entriesMax),
    firstSlot: null,
    walks: { scan: null, range: null },
    costs: noCosts(),
  }
}

export type BoundedMap<Key, Value> = {
  get(key: Key): Value | undefined
  set(key: Key, value: Value): void
}

function boundedMap<Key, Value>(max: number): BoundedMap<Key, Value> {
  const entries = new Map<Key, Value>()
  return {
    get: (key) => entries.get(key),
    set(key, value) {
      entries.delete(key)
      entries.set(key, value)
      const oldest = entries.size > max ? entries.keys().next() : null
      if (oldest?.done === false) entries.delete(oldest.value)
    },
  }
}

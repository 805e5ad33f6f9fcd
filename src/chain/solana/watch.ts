import type { Address as KitAddress, Signature } from '@solana/kit'
import { type Address, type AssetKey, assetCode, type NetworkName } from '../../core/asset.ts'
import type { ReaderBounds } from '../options.ts'
import type { NetworkSettings } from '../types.ts'
import type { BalanceChange, WatchedAssets } from './balance-changes.ts'
import type { SolanaNode } from './node.ts'

/** The watched changes of one network: balances of these assets, for these owners. */
export type SolanaWatch = WatchedAssets & { network: NetworkName; owners: ReadonlySet<Address> }

/** One scan on one node. */
export type SolanaScan = {
  node: SolanaNode
  watch: SolanaWatch
  bounds: ReaderBounds
  memory: SolanaMemory
  /** The reading strategy; null chooses by cost. */
  strategy: SolanaReadStrategy | null
}

/** Reads each owner's history, or reads every block and selects the owners. */
export type SolanaReadStrategy = 'by_owner' | 'by_block'

/**
 * Cached data that cannot change, because it is final. It only saves requests: a repeated scan has the same result.
 * Oldest entries are dropped first.
 */
export type SolanaMemory = {
  blocks: Map<bigint, SlotBlock>
  /** By signature. */
  effects: Map<string, Effects>
  /** Token accounts found before, by owner: a closed account is no longer listed, but still has its history. */
  accounts: Map<Address, ReadonlySet<string>>
  /** The token program of each mint. */
  programs: Map<Address, KitAddress>
  /** The newest entry of each account's history, when it was last listed. */
  newest: Map<string, ListedSignature>
  /** The first slot whose block the node has, from its last answer; null if it does not report it. */
  firstSlot: bigint | null
  /** Reading progress by owner: one walk for scans, and one for separate ranges. */
  readonly walks: { scan: OwnerWalk | null; range: OwnerWalk | null }
  readonly costs: Costs
}

/** Hash and time of a final slot's block. */
export type SlotBlock = { hash: string; at: Date }

/** A transaction in the history of an address. */
export type ListedSignature = { signature: Signature; slot: bigint }

/** The balance changes and the memo of a transaction. */
export type Effects = {
  changes: readonly BalanceChange[]
  memo: string | null
  /** The accounts of watched mints in the transaction, with their owners. */
  holders: readonly { account: string; owner: Address }[]
}

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

/** Milliseconds that one owner's history, or one block, costs on one node, with parallel requests. */
export type Costs = Record<SolanaReadStrategy, { ms: number; measuredAt: number } | null> & {
  /** The number of scans for which a strategy was chosen. */
  choices: number
}

export function watchOf(settings: NetworkSettings, owners: ReadonlySet<Address>): SolanaWatch {
  const mints = new Map<Address, AssetKey>()
  let native: AssetKey | null = null
  for (const { key } of settings.assets) {
    const code = assetCode(key)
    if (code === 'native') native = key
    else mints.set(code, key)
  }
  return { network: settings.name, mints, native, owners }
}

export function emptyMemory(): SolanaMemory {
  return {
    blocks: new BoundedMap(),
    effects: new BoundedMap(),
    accounts: new BoundedMap(),
    programs: new BoundedMap(),
    newest: new BoundedMap(),
    firstSlot: null,
    walks: { scan: null, range: null },
    costs: noCosts(),
  }
}

export function noCosts(): Costs {
  return { by_owner: null, by_block: null, choices: 0 }
}

const entriesMax = 10_000

class BoundedMap<Key, Value> extends Map<Key, Value> {
  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    const oldest = this.size > entriesMax ? this.keys().next() : null
    if (oldest?.done === false) this.delete(oldest.value)
    return this
  }
}

import type { Address as KitAddress, Signature } from '@solana/kit'
import { type Address, type AssetKey, assetCode, type NetworkName } from '../../core/asset.ts'
import type { ReaderBounds } from '../options.ts'
import type { NetworkSettings } from '../types.ts'
import type { BalanceChange, WatchedAssets } from './balance-changes.ts'
import type { SolanaNode } from './node.ts'

export type SolanaWatch = WatchedAssets & { network: NetworkName; owners: ReadonlySet<Address> }

export type SolanaScan = {
  node: SolanaNode
  watch: SolanaWatch
  bounds: ReaderBounds
  memory: SolanaMemory
  /** Null chooses the cheaper one. */
  strategy: SolanaReadStrategy | null
}

/** Reads each owner's history, or selects the owners from every block. */
export type SolanaReadStrategy = 'by_owner' | 'by_block'

/** Final, so it cannot change: a repeated scan has the same result. Oldest entries are dropped first. */
export type SolanaMemory = {
  blocks: Map<bigint, SlotBlock>
  effects: Map<string, Effects>
  /** By owner: a closed account is no longer listed, but still has its history. */
  accounts: Map<Address, ReadonlySet<string>>
  programs: Map<Address, KitAddress>
  newest: Map<string, ListedSignature>
  /** From its last answer; null if it does not report it. */
  firstSlot: bigint | null
  /** For scans, and for separate ranges. */
  readonly walks: { scan: OwnerWalk | null; range: OwnerWalk | null }
  /** The last reading failed with it, so the next one uses the other. */
  failed: SolanaReadStrategy | null
}

export type SlotBlock = { hash: string; at: Date }

export type ListedSignature = { signature: Signature; slot: bigint }

export type Effects = {
  changes: readonly BalanceChange[]
  memo: string | null
  holders: readonly { account: string; owner: Address }[]
}

export type OwnerWalk = {
  since: bigint
  next: bigint
  /** Oldest first, after the last range: complete up to slot `to`. */
  waiting: readonly ListedSignature[]
  to: bigint
  owners: ReadonlySet<Address>
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
    failed: null,
  }
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

import type { Hex } from 'viem'
import type { Address } from '../../core/asset.ts'

/** The fields of a block that the cache needs; other fields are returned unchanged. */
type CacheableBlock = { height: bigint; hash: Hex; parentHash: Hex }

/**
 * Blocks that one node returned before they were final, so that they are not fetched again once they are. The hash
 * decides: a block is returned only as the parent of a block that is known to be in the chain.
 */
export type BlockCache<Block extends CacheableBlock> = {
  /** Drops blocks that may concern an address that was not watched when they were read. */
  watch(recipients: ReadonlySet<Address>): void
  has(height: bigint): boolean
  /** Null if the block at that height is not cached, or is another one. */
  find(height: bigint, hash: Hex): Block | null
  /** `parties` are all senders and recipients in the block, watched or not. */
  keep(block: Block, parties: readonly Address[]): void
  drop(height: bigint): void
}

/** Arbitrum makes about 5,000 blocks until one is final. A block takes a few kilobytes. */
const blocksMax = 8000

export function createBlockCache<Block extends CacheableBlock>(): BlockCache<Block> {
  const kept = new Map<bigint, { block: Block; parties: Uint32Array }>()
  let watched: ReadonlySet<Address> = new Set()
  return {
    watch(recipients) {
      const added = [...recipients].filter((one) => !watched.has(one)).map(shortOf)
      const isNarrower = watched.size + added.length > recipients.size
      watched = recipients
      if (isNarrower) kept.clear()
      if (added.length === 0) return
      for (const [height, { parties }] of kept)
        if (added.some((one) => parties.includes(one))) kept.delete(height)
    },
    has: (height) => kept.has(height),
    find(height, hash) {
      const block = kept.get(height)?.block
      return block?.hash === hash ? block : null
    },
    keep(block, parties) {
      kept.delete(block.height)
      kept.set(block.height, { block, parties: Uint32Array.from(parties, shortOf) })
      const [oldest] = kept.keys()
      if (kept.size > blocksMax && oldest !== undefined) kept.delete(oldest)
    },
    drop: (height) => void kept.delete(height),
  }
}

/** The first four bytes. One address in four billion collides with another. */
function shortOf(address: Address): number {
  return Number(address.slice(0, 10))
}

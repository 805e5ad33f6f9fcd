import type { Address, NetworkName } from '../core/asset.ts'
import type { ChainTransfer } from '../core/evidence.ts'

export type { NetworkSettings } from '../core/asset.ts'
export type { ChainTransfer } from '../core/evidence.ts'

/** `seen` may still vanish; only `final` is booked. */
export type Stage = 'seen' | 'final'

export type StagedTransfer = ChainTransfer & { stage: Stage }

/** A block that was read as final, kept so that a later change of history is noticed. */
export type BlockMark = { height: bigint; hash: string }

/** Where reading of one network stands. It is stored as it is and handed to the next scan. */
export type ScanCursor = {
  /** The highest height up to which everything final was read, with no gap below it. */
  final: BlockMark
  /** The highest height up to which sightings that are not final yet were read. At least `final.height`. */
  seenHeight: bigint
  /** Marks below `final`, newest first, bounded; empty on Solana. */
  trail: readonly BlockMark[]
}

export type ScanResult = {
  transfers: readonly StagedTransfer[]
  cursor: ScanCursor
  /** The newest height the node knows. */
  headHeight: bigint
  /** Set when blocks above this height, read as final before, are no longer part of the chain. */
  rewoundTo: bigint | null
  /** More was waiting than one scan reads: scan again at once. */
  more: boolean
}

export type ScanRequest = {
  /** Null at the very first scan: the reader then starts at `startHeight`. */
  cursor: ScanCursor | null
  /** Height to start from without a cursor; null starts at the network's final head. */
  startHeight: bigint | null
  /** Addresses whose incoming transfers count. */
  watched: ReadonlySet<Address>
}

export type ChainReader = {
  network: NetworkName
  /** Reads on from the cursor. Writes nothing; whoever asked stores transfers and cursor together. */
  scan(request: ScanRequest): Promise<ScanResult>
  /** Asks the node which chain it is and what decimals each asset has. Throws a Fault that names what is off. */
  checkIdentity(): Promise<void>
}

/** Told of every request, for metrics. */
export type RpcObserver = (request: {
  network: NetworkName
  method: string
  outcome: 'ok' | 'error'
  seconds: number
}) => void

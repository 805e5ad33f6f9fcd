import type { Address, AssetKey, NetworkName, TxId } from '../core/asset.ts'
import type { ChainTransfer } from '../core/evidence.ts'
import type { BalanceMovement } from '../core/movement.ts'

export type { NetworkSettings } from '../core/asset.ts'
export type { ChainTransfer } from '../core/evidence.ts'
export type { BalanceMovement } from '../core/movement.ts'

/** `seen` may still vanish; only `final` is booked. */
export type FinalityStage = 'seen' | 'final'

export type StagedTransfer = ChainTransfer & { stage: FinalityStage }

/** A block that was read as final, kept so that a later change of history is noticed. */
export type BlockMark = { height: bigint; hash: string }

/** Heights, both ends included. */
export type HeightRange = { from: bigint; to: bigint }

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
  /** Final ones, as far as this reading shows them without asking more. */
  movements: readonly BalanceMovement[]
  /** Heights read completely as final by this scan, for all addresses asked for. */
  proved: readonly HeightRange[]
  /** Nodes that answered otherwise than the others, each with what differs. */
  dissent: readonly string[]
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
  /** Read as final no further than this; without it, as far as the node calls final. */
  finalMax?: bigint
  /** Read nothing that is not final: what another node has read is only compared. */
  finalOnly?: boolean
}

export type RangeRequest = HeightRange & {
  watched: ReadonlySet<Address>
  /** EVM: also what contracts paid inside of transactions, where the node traces blocks. It costs many times as much. */
  traced?: boolean
  /** Solana: from the blocks, also where histories cost less, for what a history leaves out is still in its block. */
  byBlock?: boolean
}

/** A final stretch, read for its own sake. `reached` is the last height that was read whole, at most the end asked for. */
export type RangeResult = Pick<ScanResult, 'movements' | 'proved' | 'dissent'> & {
  transfers: readonly ChainTransfer[]
  reached: bigint
  /** Of the block at that height, where it was read; a slot may have none. */
  reachedHash?: string
}

/** `failed`: included, and moved nothing. A transfer is `final` only where its block is. */
export type TransactionReading =
  | { kind: 'unknown' }
  | { kind: 'failed'; height: bigint }
  | { kind: 'read'; transfers: readonly StagedTransfer[] }

/**
 * `at` is null where balances are asked for at what is final now. Without a hash they are asked for at that height,
 * whichever block is there; with one, another block at that height is a fault. Where past balances cannot be read at
 * all, as on Solana, the answer is of what is final now, and says so by its `at`.
 */
export type BalanceRequest = {
  pairs: readonly { address: Address; asset: AssetKey }[]
  at: { height: bigint; hash?: string } | null
}

/** In the order of the pairs. */
export type BalanceReading = { at: BlockMark; balances: readonly bigint[] }

/** Whose balances of what are followed through a stretch. */
export type HistoryRequest = HeightRange & { address: Address; asset: AssetKey }

/**
 * Balances at the ends of blocks, lowest height first, none of them at the last height asked for. They tell what there
 * is to be told up to `reached`, at most the end asked for.
 */
export type BalanceHistory = { balances: readonly { height: bigint; amount: bigint }[]; reached: bigint }

/** Reads what is asked for, beside the scans. */
export type OnDemandReader = {
  readRange(request: RangeRequest): Promise<RangeResult>
  readTransaction(tx: TxId, watched: ReadonlySet<Address>): Promise<TransactionReading>
  /** Hosts of up to two different nodes that do not know the transaction; none if one of those asked knows it. */
  nodesWithout(tx: TxId): Promise<readonly string[]>
  /** The last final height whose block is not after that time; null where the first block that is had is after it. */
  heightAt(at: Date): Promise<bigint | null>
  /** When the block at that height was made, or the next one if the height has none. */
  timeAt(height: bigint): Promise<Date>
  readBalances(request: BalanceRequest): Promise<BalanceReading>
  /** Movements that scans do not show: on EVM networks, tokens sent and coin wrapped. */
  readMovements(
    request: HeightRange & { addresses: ReadonlySet<Address> },
  ): Promise<readonly BalanceMovement[]>
  /**
   * Where past balances cannot be read: those which the transactions of a final stretch tell. Transactions that contradict
   * one another, as where one between them is hidden, tell none.
   */
  readBalanceHistory?: (request: HistoryRequest) => Promise<BalanceHistory>
}

export type ChainReader = {
  network: NetworkName
  /** Reads on from the cursor. Writes nothing; whoever asked stores transfers and cursor together. */
  scan(request: ScanRequest): Promise<ScanResult>
  /** Asks the node which chain it is and what decimals each asset has. Throws a Fault that names what is off. */
  checkIdentity(): Promise<void>
}

/** Told of how well a node does: 1 is best, 0 is one that always fails. For metrics. */
export type NodeObserver = (node: { network: NetworkName; node: string; score: number }) => void

/** Told of a Transfer log that no ERC-20 token can have written; `tx` is null if the log does not say it. */
export type OddLogObserver = (log: {
  network: NetworkName
  reason: 'topics' | 'data' | 'fields'
  contract: string
  tx: TxId | null
}) => void

/** Told of a transaction on Solana that cannot be read, so that its slot stays a gap; `tx` is null if only its slot is known. */
export type UnreadObserver = (transaction: {
  network: NetworkName
  /** `version`: newer than this program knows. `owner`: it does not say whose a balance is. */
  reason: 'version' | 'owner'
  slot: bigint
  tx: string | null
}) => void

/** All that a network is asked. */
export type FullChainReader = ChainReader & OnDemandReader

/** Told of every request, for metrics. */
export type RpcObserver = (request: {
  network: NetworkName
  /** The host of the node's URL. */
  node: string
  method: string
  outcome: 'ok' | 'error'
  seconds: number
}) => void

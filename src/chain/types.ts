import type { Address, AssetKey, NetworkName, TxId } from '../core/asset.ts'
import type { BalanceMovement } from '../core/balance-proof.ts'
import type { ChainTransfer } from '../core/evidence.ts'

export type { NetworkSettings } from '../core/asset.ts'
export type { BalanceMovement } from '../core/balance-proof.ts'
export type { ChainTransfer } from '../core/evidence.ts'

/** `seen` may still vanish; only `final` is booked. */
export type FinalityStage = 'seen' | 'final'

export type StagedTransfer = ChainTransfer & { stage: FinalityStage }

/** A block that was read as final. It is kept to detect a later change of history. */
export type BlockMark = { height: bigint; hash: string }

/** Heights, both ends included. */
export type HeightRange = { from: bigint; to: bigint }

/** The reading position of one network. It is stored unchanged and passed to the next scan. */
export type ScanCursor = {
  /** The highest height up to which everything final was read, without gaps. */
  final: BlockMark
  /** The highest height up to which chain transfers that are not final yet were read. At least `final.height`. */
  seenHeight: bigint
  /** Marks below `final`, newest first, bounded; empty on Solana. */
  trail: readonly BlockMark[]
}

export type ScanResult = {
  transfers: readonly StagedTransfer[]
  /** Final movements, as far as this reading shows them without further requests. */
  movements: readonly BalanceMovement[]
  /** Heights that this scan read completely as final, for all requested addresses. */
  proved: readonly HeightRange[]
  /** Nodes whose answers differ from the others, each with the difference. */
  dissent: readonly string[]
  cursor: ScanCursor
  /** The newest height known to the node. */
  headHeight: bigint
  /** Set if blocks above this height, read as final before, are no longer part of the chain. */
  rewoundTo: bigint | null
  /** More blocks were waiting than one scan reads: scan again at once. */
  more: boolean
}

export type ScanRequest = {
  /** Null for the very first scan, which starts at `startHeight`. */
  cursor: ScanCursor | null
  /** Start height without a cursor; null starts at the network's final head. */
  startHeight: bigint | null
  /** Addresses whose incoming transfers count. */
  watched: ReadonlySet<Address>
  /** The last height to read as final. Defaults to the node's final height. */
  finalMax?: bigint
  /** Read only final blocks. Used if the result is only compared with that of another node. */
  finalOnly?: boolean
}

export type RangeRequest = HeightRange & {
  watched: ReadonlySet<Address>
  /**
   * EVM: also read payments by contracts inside of transactions, if the node traces blocks. This costs many times as
   * much.
   */
  traced?: boolean
  /**
   * Solana: read whole blocks even if signature histories cost less. A transaction missing from a history is still in
   * its block.
   */
  byBlock?: boolean
}

/**
 * The result of reading a final height range outside of the scans. `reached` is the last height read completely, at
 * most the requested end.
 */
export type RangeResult = Pick<ScanResult, 'movements' | 'proved' | 'dissent'> & {
  transfers: readonly ChainTransfer[]
  reached: bigint
  /** Hash of the block at that height, if it was read; a slot may have no block. */
  reachedHash?: string
}

/** `failed`: included, but moved nothing. A transfer is `final` only if its block is. */
export type TransactionReading =
  | { kind: 'unknown' }
  | { kind: 'failed'; height: bigint }
  | { kind: 'read'; transfers: readonly StagedTransfer[] }

/**
 * `at` is null for balances at the current final block. With a height and no hash, any block at that height will do;
 * with a hash, another block at that height is a fault. If past balances cannot be read at all, as on Solana, the
 * reading is of the current final block, as its `at` shows.
 */
export type BalanceRequest = {
  pairs: readonly { address: Address; asset: AssetKey }[]
  at: { height: bigint; hash?: string } | null
}

/** In the order of the pairs. */
export type BalanceReading = { at: BlockMark; balances: readonly bigint[] }

/** The address and asset whose balances are followed through a height range. */
export type HistoryRequest = HeightRange & { address: Address; asset: AssetKey }

/**
 * Balances at the ends of blocks, lowest height first; none at the last height requested. They are all that can be
 * determined up to `reached`, at most the requested end.
 */
export type BalanceHistory = { balances: readonly { height: bigint; amount: bigint }[]; reached: bigint }

/** Reads on request, outside of the scans. */
export type OnDemandReader = {
  readRange(request: RangeRequest): Promise<RangeResult>
  readTransaction(tx: TxId, watched: ReadonlySet<Address>): Promise<TransactionReading>
  /** Hosts of up to two nodes that do not know the transaction; none if any node asked knows it. */
  nodesWithout(tx: TxId): Promise<readonly string[]>
  /** The last final height whose block is not after that time; null if the first available block is later. */
  heightAt(at: Date): Promise<bigint | null>
  /** The time of the block at that height, or of the next block if the height has none. */
  timeAt(height: bigint): Promise<Date>
  readBalances(request: BalanceRequest): Promise<BalanceReading>
  /** Movements that scans do not show: on EVM networks, sent tokens and wrapped coins. */
  readMovements(
    request: HeightRange & { addresses: ReadonlySet<Address> },
  ): Promise<readonly BalanceMovement[]>
  /**
   * Only if past balances cannot be read: the balances stated by the transactions of a final range. Transactions that
   * contradict each other, for example because one between them is hidden, give no balance.
   */
  readBalanceHistory?: (request: HistoryRequest) => Promise<BalanceHistory>
}

export type ChainReader = {
  network: NetworkName
  /** Reads on from the cursor. Writes nothing; the caller stores transfers and cursor together. */
  scan(request: ScanRequest): Promise<ScanResult>
  /** Checks the chain of the node and the decimals of each asset. Throws a Fault that lists the problems. */
  checkIdentity(): Promise<void>
}

/** Called with the score of a node: 1 is best, 0 means that it always fails. For metrics. */
export type NodeObserver = (node: { network: NetworkName; node: string; score: number }) => void

/** Called for a Transfer log that no ERC-20 token can have written; `tx` is null if the log does not name it. */
export type OddLogObserver = (log: {
  network: NetworkName
  reason: 'topics' | 'data' | 'fields'
  contract: string
  tx: TxId | null
}) => void

/**
 * Called for a Solana transaction that cannot be read, so that its slot remains a gap; `tx` is null if only its slot is
 * known.
 */
export type UnreadObserver = (transaction: {
  network: NetworkName
  /** `version`: newer than this program supports. `owner`: the owner of a balance is missing. */
  reason: 'version' | 'owner'
  slot: bigint
  tx: string | null
}) => void

/** Every query of a network. */
export type FullChainReader = ChainReader & OnDemandReader

/** Called for every request, for metrics. */
export type RpcObserver = (request: {
  network: NetworkName
  /** The host of the node's URL. */
  node: string
  method: string
  outcome: 'ok' | 'error'
  seconds: number
}) => void

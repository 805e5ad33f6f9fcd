import type { Address, AssetKey, NetworkName, TxId } from '../core/asset.ts'
import type { BalanceMovement } from '../core/balance-proof.ts'
import type { ChainTransfer } from '../core/evidence.ts'

export type { NetworkSettings } from '../core/asset.ts'
export type { BalanceMovement } from '../core/balance-proof.ts'
export type { ChainTransfer } from '../core/evidence.ts'

/** `seen` may still vanish; only `final` is booked. */
export type FinalityStage = 'seen' | 'final'

export type StagedTransfer = ChainTransfer & { stage: FinalityStage }

/** Kept to detect a later change of history. */
export type BlockMark = { height: bigint; hash: string }

/** Both ends included. */
export type HeightRange = { from: bigint; to: bigint }

/** Stored unchanged and passed to the next scan. */
export type ScanCursor = {
  /** Everything up to here was read, without gaps. */
  final: BlockMark
  /** For transfers that are not final yet. At least `final.height`. */
  seenHeight: bigint
  /** Below `final`, newest first, bounded; empty on Solana. */
  trail: readonly BlockMark[]
}

export type ScanResult = {
  transfers: readonly StagedTransfer[]
  /** As far as this reading shows them without further requests. */
  movements: readonly BalanceMovement[]
  /** Read completely, for all requested addresses. */
  proved: readonly HeightRange[]
  /** Nodes whose answers differ, each with the difference. */
  dissent: readonly string[]
  cursor: ScanCursor
  headHeight: bigint
  /** Set if blocks above it are no longer part of the chain. */
  rewoundTo: bigint | null
  /** Scan again at once. */
  more: boolean
}

export type ScanRequest = {
  /** Null for the first scan. */
  cursor: ScanCursor | null
  /** Without a cursor; null starts at the final head. */
  startHeight: bigint | null
  watched: ReadonlySet<Address>
  /** Defaults to the node's final height. */
  finalMax?: bigint
  /** If the result is only compared with that of another node. */
  finalOnly?: boolean
}

export type RangeRequest = HeightRange & {
  watched: ReadonlySet<Address>
  /** EVM: payments by contracts, if the node traces blocks. Costs many times as much. */
  traced?: boolean
  /** Solana. A transaction missing from a history is still in its block. */
  byBlock?: boolean
}

/** `reached`: read completely, at most the requested end. */
export type RangeResult = Pick<ScanResult, 'movements' | 'proved' | 'dissent'> & {
  transfers: readonly ChainTransfer[]
  reached: bigint
  reachedHash?: string
}

/** `failed`: included, but moved nothing. A transfer is `final` only if its block is. */
export type TransactionReading =
  | { kind: 'unknown' }
  | { kind: 'failed'; height: bigint }
  | { kind: 'read'; transfers: readonly StagedTransfer[] }

/**
 * Without a hash, any block at that height will do. `at` is null for the current final block, which is also read if
 * there are no past balances, as on Solana.
 */
export type BalanceRequest = {
  pairs: readonly { address: Address; asset: AssetKey }[]
  at: { height: bigint; hash?: string } | null
}

/** In the order of the pairs. */
export type BalanceReading = { at: BlockMark; balances: readonly bigint[] }

export type HistoryRequest = HeightRange & { address: Address; asset: AssetKey }

/**
 * At the ends of blocks, lowest first; none at the last height. Complete up to `reached`, at most the requested end.
 */
export type BalanceHistory = { balances: readonly { height: bigint; amount: bigint }[]; reached: bigint }

export type OnDemandReader = {
  readRange(request: RangeRequest): Promise<RangeResult>
  readTransaction(tx: TxId, watched: ReadonlySet<Address>): Promise<TransactionReading>
  /** At most two hosts; none if any node asked knows the transaction. */
  nodesWithout(tx: TxId): Promise<readonly string[]>
  /** Null if the first available block is later. */
  heightAt(at: Date): Promise<bigint | null>
  timeAt(height: bigint): Promise<Date>
  readBalances(request: BalanceRequest): Promise<BalanceReading>
  /** On EVM networks, sent tokens and wrapped coins. */
  readMovements(
    request: HeightRange & { addresses: ReadonlySet<Address> },
  ): Promise<readonly BalanceMovement[]>
  /**
   * Only if past balances cannot be read: from final transactions. Those that contradict each other, for example
   * because of a hidden one, give no balance.
   */
  readBalanceHistory?: (request: HistoryRequest) => Promise<BalanceHistory>
}

export type ChainReader = {
  network: NetworkName
  /** Writes nothing; the caller stores transfers and cursor together. */
  scan(request: ScanRequest): Promise<ScanResult>
  /** Throws a Fault that lists the problems with chain and decimals. */
  checkIdentity(): Promise<void>
}

/** From 0 (always fails) to 1. For metrics. */
export type NodeObserver = (node: { network: NetworkName; node: string; score: number }) => void

/** No ERC-20 token can have written it; `tx` is null if the log does not name it. */
export type OddLogObserver = (log: {
  network: NetworkName
  reason: 'topics' | 'data' | 'fields'
  contract: string
  tx: TxId | null
}) => void

/** Its slot remains a gap; `tx` is null if only its slot is known. */
export type UnreadObserver = (transaction: {
  network: NetworkName
  /** `version`: newer than supported. `owner`: the owner of a balance is missing. */
  reason: 'version' | 'owner'
  slot: bigint
  tx: string | null
}) => void

export type FullChainReader = ChainReader &
  OnDemandReader & {
    /** From each node that answers, in the order of the keys; null if there is no token. */
    readDecimals(keys: readonly AssetKey[]): Promise<readonly (readonly (number | null)[])[]>
  }

/** For metrics. */
export type RpcObserver = (request: {
  network: NetworkName
  node: string
  method: string
  outcome: 'ok' | 'error'
  seconds: number
}) => void

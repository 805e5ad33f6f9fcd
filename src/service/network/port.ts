import type { Address, AssetKey, NetworkSettings, TxId } from '../../core/asset.ts'

export type ScannedPayment = {
  transaction: TxId
  /** The log index or `native` on EVM networks, `{mint or native}:{deposit address}` on Solana. */
  index: string
  asset: AssetKey
  sender: Address | null
  address: Address
  amount: bigint
  block: bigint
  blockHash: string
  blockAt: Date
  final: boolean
}

/** Read as final, and beyond that as seen. */
export type NetworkReadPosition = {
  finalHeight: bigint
  finalHash: string | null
  seenHeight: bigint
  seenHash: string | null
}

export type Scan = {
  payments: readonly ScannedPayment[]
  position: NetworkReadPosition
  more: boolean
}

export type TransferOrder = {
  branch: number
  to: Address
  asset: AssetKey
  /** In base units, greater than zero. */
  amount: bigint
  /**
   * `amount`: fees in the asset itself (network fee of a native coin, transfer fee of a token) come off the amount, so
   * that an address can be emptied. Others are paid on top.
   */
  feeFrom: 'payer' | 'amount'
  /** Makes the transaction unique on networks without nonces. */
  reference: string
}

export type TransferDraft = {
  /** Arrives at the address of the order. */
  amount: bigint
  sign(nonce: bigint | null): Promise<SignedTransfer>
}

export type SignedTransfer = {
  transaction: TxId
  bytes: Uint8Array
  nonce: bigint | null
  /** Null if the bytes never expire. */
  expiresHeight: bigint | null
}

/** `open` may still land; `known`: the node has it. The others are final. */
export type SignedTransferOutcome =
  | { kind: 'open'; known: boolean }
  | { kind: 'landed'; at: Date }
  | { kind: 'reverted' }
  | { kind: 'expired' }

/** Shares no code with the chain readers against which the service is reconciled. */
export type NetworkClient = {
  settings: NetworkSettings
  /** @throws Fault if the node serves another chain, or if an asset's decimals differ from the settings */
  check(): Promise<void>
  /** The current final head. */
  start(): Promise<NetworkReadPosition>
  /**
   * Leaves out payments of the liquidity wallet. `watched` is called after the heights are known, so that payments to
   * an address that it lacks are all above them.
   */
  scan(position: NetworkReadPosition, watched: () => Promise<ReadonlySet<Address>>): Promise<Scan>
  /**
   * Counts transfers signed before.
   * @throws Fault `remote_failed`, also if the address has too little. Signing throws it too, because preceding
   * transfers are known only then
   */
  draft(order: TransferOrder): Promise<TransferDraft>
  /** Zero on Solana. */
  gasLack(order: TransferOrder): Promise<bigint>
  /**
   * Keeps the nonce of the old transfer. Null if the old fee is still good, the nonce is used, or the network has no
   * nonces. If the fee comes off the amount, less arrives.
   * @throws Fault `remote_failed`, also if the address cannot pay a fee that is worth signing
   */
  redraft(bytes: Uint8Array, payer: Pick<TransferOrder, 'branch' | 'feeFrom'>): Promise<TransferDraft | null>
  send(bytes: Uint8Array): Promise<void>
  /** Null if the network has no nonces. */
  nextNonce(branch: number): Promise<bigint | null>
  outcome(transfer: Pick<SignedTransfer, 'transaction' | 'expiresHeight'>): Promise<SignedTransferOutcome>
  /** Includes transactions that are not final yet. */
  balance(branch: number, asset: AssetKey): Promise<bigint>
}

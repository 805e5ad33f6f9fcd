import type { Address, AssetKey, NetworkSettings, TxId } from '../../core/asset.ts'

/** One payment to a deposit address, found by the service on the chain. */
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
  /** Whether its block is final. */
  final: boolean
}

/** The position up to which a network was read: as final, and beyond that as seen. */
export type NetworkReadPosition = {
  finalHeight: bigint
  finalHash: string | null
  seenHeight: bigint
  seenHash: string | null
}

export type Scan = {
  /** Includes every final payment above the old final height and up to the new one. */
  payments: readonly ScannedPayment[]
  position: NetworkReadPosition
  /** More blocks are waiting than one scan reads. */
  more: boolean
}

export type TransferOrder = {
  /** The branch of the seed whose key signs and whose address pays. */
  branch: number
  to: Address
  asset: AssetKey
  /** In base units, greater than zero. */
  amount: bigint
  /**
   * `amount`: fees in the asset itself come off the amount, so that an address can be emptied. These are the network
   * fee of a native coin and the transfer fee of a token. Fees in another coin are paid on top.
   */
  feeFrom: 'payer' | 'amount'
  /** Makes the transaction unique on networks without nonces. */
  reference: string
}

/** A transfer with all node queries done: signing needs no network. */
export type TransferDraft = {
  /** The amount that arrives at the address of the order. */
  amount: bigint
  sign(nonce: bigint | null): Promise<SignedTransfer>
}

export type SignedTransfer = {
  transaction: TxId
  bytes: Uint8Array
  nonce: bigint | null
  /** The last block height at which the bytes can land; null if they never expire. */
  expiresHeight: bigint | null
}

/** `open` may still land, and `known` is whether the node has it. The other outcomes are final. */
export type SignedTransferOutcome =
  | { kind: 'open'; known: boolean }
  | { kind: 'landed'; at: Date }
  | { kind: 'reverted' }
  | { kind: 'expired' }

/** The service's chain client. It shares no code with the chain readers against which the service is reconciled. */
export type NetworkClient = {
  settings: NetworkSettings
  /** @throws Fault if the node serves another chain, or if an asset's decimals differ from the settings. */
  check(): Promise<void>
  /** The start position: the current final head. */
  start(): Promise<NetworkReadPosition>
  /**
   * Reads on, without the payments of the liquidity wallet, which are not deposits. `watched` is called only after the
   * heights are known, so that payments to an address that it lacks are all above them.
   */
  scan(position: NetworkReadPosition, watched: () => Promise<ReadonlySet<Address>>): Promise<Scan>
  /**
   * @throws Fault `remote_failed`, also if the address of the branch has too little, counting transfers signed before.
   * Signing throws it too, because the preceding transfers are known only then.
   */
  draft(order: TransferOrder): Promise<TransferDraft>
  /** The native coin that the address of the branch lacks to pay for this order; zero on Solana. */
  gasLack(order: TransferOrder): Promise<bigint>
  /**
   * The same transfer at a higher fee, to be signed with the nonce of the old one. Null if the old fee is still good,
   * the nonce is used, or the network has no nonces. If the fee comes off the amount, less arrives than before.
   * @throws Fault `remote_failed`, also if the address cannot pay a fee that is worth signing
   */
  redraft(bytes: Uint8Array, payer: Pick<TransferOrder, 'branch' | 'feeFrom'>): Promise<TransferDraft | null>
  send(bytes: Uint8Array): Promise<void>
  /** The nonce that the chain expects next for the branch; null if the network has no nonces. */
  nextNonce(branch: number): Promise<bigint | null>
  outcome(transfer: Pick<SignedTransfer, 'transaction' | 'expiresHeight'>): Promise<SignedTransferOutcome>
  /** The balance of the branch's address, including transactions that are not final yet. */
  balance(branch: number, asset: AssetKey): Promise<bigint>
}

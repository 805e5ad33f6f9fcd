import type { NetworkSettings } from '../../chain/port.ts'
import type { Address, AssetKey, TxId } from '../../core/asset.ts'

/** One transfer to a deposit address, as the service itself found it. */
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
  /** Whether it is past being undone. */
  final: boolean
}

/** Up to where a network was read: as final, and beyond that as seen. */
export type NetworkReadPosition = {
  finalHeight: bigint
  finalHash: string | null
  seenHeight: bigint
  seenHash: string | null
}

export type Scan = {
  /** Every final payment above the old final height and up to the new one is among them. */
  payments: readonly ScannedPayment[]
  position: NetworkReadPosition
  /** More is waiting than one scan reads. */
  more: boolean
}

export type TransferOrder = {
  /** The branch of the seed whose key signs, and whose address the asset leaves. */
  branch: number
  to: Address
  asset: AssetKey
  /** Base units, above zero. */
  amount: bigint
  /**
   * `amount`: what the transfer takes of the asset itself comes off the amount, so that an address can be emptied:
   * the fee of a native coin, and what a token withholds from its transfers. Fees in another coin are paid beside it.
   */
  feeFrom: 'payer' | 'amount'
  /** Makes the transaction unlike any other where the network has no nonce. */
  reference: string
}

/** A transfer for which everything was asked of the node: signing needs no network. */
export type TransferDraft = {
  /** What arrives at the address of the order. */
  amount: bigint
  sign(nonce: bigint | null): Promise<SignedTransfer>
}

export type SignedTransfer = {
  transaction: TxId
  bytes: Uint8Array
  nonce: bigint | null
  /** The last block height at which the bytes can still land; null where they never expire. */
  expiresHeight: bigint | null
}

/** `open` may still land; `known` is whether the node has it. The others are final. */
export type SignedTransferOutcome =
  | { kind: 'open'; known: boolean }
  | { kind: 'landed'; at: Date }
  | { kind: 'reverted' }
  | { kind: 'expired' }

/** What the service needs of a chain. Nothing of it is shared with the readers it is reconciled against. */
export type NetworkClient = {
  settings: NetworkSettings
  /** Throws a Fault where the node serves another chain or an asset has other decimals than the settings say. */
  check(): Promise<void>
  /** Where reading begins: the head that is final now. */
  start(): Promise<NetworkReadPosition>
  /**
   * Reads on, and leaves out what the liquidity wallet pays: the service's own movements are no deposits. `watched`
   * is asked only after the heights are known, so that the payments to an address that it does
   * not have yet are all above them.
   */
  scan(position: NetworkReadPosition, watched: () => Promise<ReadonlySet<Address>>): Promise<Scan>
  /**
   * @throws Fault `remote_failed`, also where the address of the branch has too little, counting what was signed
   * before; signing throws it too, because only then it is known what comes before
   */
  draft(order: TransferOrder): Promise<TransferDraft>
  /** What the address of the branch lacks of the native coin to pay for this order; zero on Solana. */
  gasLack(order: TransferOrder): Promise<bigint>
  /**
   * The same transfer at a higher fee, to be signed with the nonce of the old one; null where the old fee is still
   * good, the nonce is used, or the network has no nonces. With the fee from the amount less arrives than before.
   * @throws Fault `remote_failed`, also where the address cannot pay a fee that is worth signing
   */
  redraft(bytes: Uint8Array, payer: Pick<TransferOrder, 'branch' | 'feeFrom'>): Promise<TransferDraft | null>
  send(bytes: Uint8Array): Promise<void>
  /** The nonce that the chain expects next of the branch; null where the network has none. */
  nextNonce(branch: number): Promise<bigint | null>
  outcome(transfer: Pick<SignedTransfer, 'transaction' | 'expiresHeight'>): Promise<SignedTransferOutcome>
  /** What the address of the branch holds of an asset, in transactions that may not be final yet. */
  balance(branch: number, asset: AssetKey): Promise<bigint>
}

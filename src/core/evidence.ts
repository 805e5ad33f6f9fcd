import type { Address, AssetKey, NetworkName, TxId } from './asset.ts'
import type { Brand } from './brand.ts'
import type { Amount } from './money.ts'

/** The id the service gave a deposit. */
export type ServiceId = Brand<string, 'ServiceId'>

/** One transfer on one chain: `network/transaction/index`. */
export type TransferRef = Brand<string, 'TransferRef'>

/** Whom a deposit is for, by the caller-chosen id of the channel or StableWallet. */
export type Owner = { kind: 'channel' | 'stable_wallet'; id: string }

/** How far the service says a deposit has come, in our terms. The mapping translates its own words into these. */
export const claimStatuses = [
  'observed',
  'confirmed',
  'settling',
  'settled',
  'held',
  'refunded',
  'failed',
] as const
export type ClaimStatus = (typeof claimStatuses)[number]

/** The payment, as the service states it. */
export type DepositClaim = {
  network: NetworkName
  address: Address
  asset: AssetKey
  amount: Amount
  tx: TxId | null
  index: string | null
}

/** Where a credit to a StableWallet lives: it is on no chain. */
export const stableWalletNetwork = 'stable-wallet' as NetworkName

/** The delivery, as the service states it. `address` is the wallet's id for a StableWallet. */
export type SettlementClaim = {
  network: NetworkName
  address: Address
  asset: AssetKey
  amount: Amount | null
  tx: TxId | null
  fee: Amount | null
}

/** How the payment went back, as the service states it: in the asset that was paid, on its network. */
export type RefundClaim = { tx: TxId }

/** One webhook, or one revision of one API record. */
export type Claim = {
  kind: 'claim'
  source: 'webhook' | 'api'
  serviceId: ServiceId
  status: ClaimStatus
  /** Null where the service names none: it is then whoever has the address in the address book. */
  owner: Owner | null
  deposit: DepositClaim
  settlement: SettlementClaim | null
  /** There is none where the service names no transaction by which it went back. */
  refund?: RefundClaim
  /** When the service says this came to be. Where it states no time it is `isUndated`, and this is when it was received. */
  occurredAt: Date
  isUndated?: true
  receivedAt: Date
}

/** One movement of one asset to one watched address, as a chain reader found it. */
export type ChainTransfer = {
  network: NetworkName
  tx: TxId
  /**
   * Tells the transfers of one transaction apart: the log index (`3`) or `native` on EVM networks,
   * `{asset code}:{owner}` on Solana, where a transfer is a balance change and has no number.
   */
  index: string
  asset: AssetKey
  /** Who paid. Null where the chain does not say, as with a Solana balance change of several payers. */
  from: Address | null
  to: Address
  amount: Amount
  /** What left the payer, where that is more than what arrived: a token may keep a fee. */
  sent?: Amount
  /** What the payer wrote to it, where the chain keeps that. At most 256 characters, without control characters. */
  memo?: string
  /** Block number or slot. */
  height: bigint
  blockHash: string
  blockAt: Date
}

/** One reading of one chain transfer to a watched address. `orphaned`: the block that held it is gone. */
export type ObservedChainTransfer = ChainTransfer & {
  kind: 'sighting'
  stage: 'seen' | 'final' | 'orphaned'
  /** What the receiving address was watched as. */
  role: 'deposit' | 'recipient'
  /** Counts the times this network's final history changed. What a later epoch says replaces the earlier. */
  epoch: number
  receivedAt: Date
}

/** A transaction that the service names, as its chain has it for good: it is there, it failed, and it moved nothing. */
export type TransactionFailure = {
  kind: 'failure'
  /** What the address that is said to be paid is watched as. */
  role: ObservedChainTransfer['role']
  network: NetworkName
  tx: TxId
  to: Address
  height: bigint
  receivedAt: Date
}

/** A block or slot, and when it was made. */
export type BlockTime = { height: bigint; blockAt: Date }

/**
 * Where a leg that the service claims was searched for on its chain, and not found. It proves by itself neither that the
 * leg is missing nor that it was not read: that is judged.
 */
export type LegSearch = {
  kind: 'search'
  serviceId: ServiceId
  role: ObservedChainTransfer['role']
  network: NetworkName
  /** The address that should have been paid. */
  to: Address
  /** The transaction that the service names; null if it names none. */
  tx: TxId | null
  /** Hosts of nodes that reach back to the time of the claim and do not know the transaction. */
  nodes: readonly string[]
  /** The block that holds the transaction, although the address is not read. */
  found: { height: bigint } | null
  /** The last block that is not after the beginning of the time in which it should have moved; null if no node reaches back to it. */
  claimed: { height: bigint } | null
  /** The final blocks that were read for this address without a gap, up to the newest; null if there are none. */
  read: { from: BlockTime; to: BlockTime } | null
  /** The network has no RPC URL in the settings, so that nobody could search. */
  isUnread?: true
  /** Since when the address book knows the address; null if it does not. */
  bookedAt: Date | null
  receivedAt: Date
}

/**
 * What a person decided, or a policy in a person's place. It is kept as evidence like all else, so that it holds when
 * everything is decided anew; where two contradict each other, a person's holds against a policy's, and else the newer.
 */
export type TransferDecision = {
  kind: 'ruling'
  /** Chosen by whoever asks, so that asking twice is one ruling. */
  id: string
  /** The transfer it is about, and what its address is watched as. */
  role: ObservedChainTransfer['role']
  network: NetworkName
  tx: TxId
  index: string
  to: Address
  verdict: DecisionOutcome
  /** A name, or `policyName`. */
  by: string
  /** The second person, where one is asked for. */
  approvedBy: string | null
  reason: string
  receivedAt: Date
}

/** Who rules where a policy does so in a person's place. */
export const policyName = 'policy'

export function isByPolicy({ by }: TransferDecision): boolean {
  return by === policyName
}

export type DecisionOutcome =
  /** The transfer is, or is not, the payment or a delivery of the deposit that the service knows by that id. */
  | { kind: 'together' | 'apart'; serviceId: ServiceId }
  /** What the payment brought in transit is not expected any more: it is lost, or the service owes it. */
  | { kind: 'write_off'; account: 'expenses:write_off' | 'assets:receivable:service' }
  /** A write-off does not hold any more. */
  | { kind: 'write_off_withdrawn' }

export type Observation = Claim | ObservedChainTransfer | TransactionFailure | LegSearch | TransferDecision

export function transferRef({
  network,
  tx,
  index,
}: {
  network: string
  tx: string
  index: string
}): TransferRef {
  return `${network}/${tx}/${index}` as TransferRef
}

/**
 * The keys by which observations find each other: those that share one are decided together.
 * A payment is keyed with its address, since one transaction may pay many people. The network is in no key: an id names
 * one transaction wherever it is, so that what the service places on the wrong network still meets what its chain shows.
 */
export function linkKeys(observation: Observation): string[] {
  if (observation.kind === 'search') return [`service/${observation.serviceId}`]
  if (observation.kind !== 'claim') {
    const { role, tx, to } = observation
    const key = role === 'deposit' ? paymentKey(tx, to) : deliveryKey(tx)
    return observation.kind === 'ruling' ? [key, ...serviceKeys(observation.verdict)] : [key]
  }
  const { serviceId, deposit, settlement, refund } = observation
  const keys = [`service/${serviceId}`]
  if (deposit.tx !== null) keys.push(paymentKey(deposit.tx, deposit.address))
  if (settlement !== null && settlement.tx !== null) keys.push(deliveryKey(settlement.tx))
  if (refund !== undefined) keys.push(deliveryKey(refund.tx))
  return keys
}

function paymentKey(tx: TxId, address: Address): string {
  return `in/${tx}/${address}`
}

function deliveryKey(tx: TxId): string {
  return `out/${tx}`
}

function serviceKeys(verdict: DecisionOutcome): string[] {
  return 'serviceId' in verdict ? [`service/${verdict.serviceId}`] : []
}

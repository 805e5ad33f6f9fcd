import type { Address, AssetKey, NetworkName, TxId } from './asset.ts'
import type { Brand } from './brand.ts'
import type { Amount } from './money.ts'

/** The id the service gave a deposit. */
export type ServiceId = Brand<string, 'ServiceId'>

/** One chain transfer: `network/transaction/index`. */
export type TransferRef = Brand<string, 'TransferRef'>

/** The owner of a deposit, by the caller-chosen id of the channel or StableWallet. */
export type Owner = { kind: 'channel' | 'stable_wallet'; id: string }

/** The progress of a deposit as the service states it, in our terms. The mapping translates the service's own words. */
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

/** The network of a credit to a StableWallet, which is on no chain. */
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

/** The refund, as the service states it: in the asset that was paid, on its network. */
export type RefundClaim = { tx: TxId }

/** One webhook, or one revision of one API record. */
export type Claim = {
  kind: 'claim'
  source: 'webhook' | 'api'
  serviceId: ServiceId
  status: ClaimStatus
  /** Null if the service names no owner. The owner is then the one with this address in the address book. */
  owner: Owner | null
  deposit: DepositClaim
  settlement: SettlementClaim | null
  /** Absent if the service names no refund transaction. */
  refund?: RefundClaim
  /** When the service says this happened. If it states no time, `isUndated` is set and this is the time of receipt. */
  occurredAt: Date
  isUndated?: true
  receivedAt: Date
}

/** One movement of one asset to one watched address, as a chain reader found it. */
export type ChainTransfer = {
  network: NetworkName
  tx: TxId
  /**
   * Distinguishes the transfers of one transaction: the log index (`3`) or `native` on EVM networks, `{asset
   * code}:{owner}` on Solana, because a Solana transfer is a balance change without a number.
   */
  index: string
  asset: AssetKey
  /** The payer. Null if the chain does not show it, as with a Solana balance change of several payers. */
  from: Address | null
  to: Address
  amount: Amount
  /** The amount that left the payer, if it is more than arrived: a token may keep a fee. */
  sent?: Amount
  /** The payer's memo, if the chain stores one. At most 256 characters, without control characters. */
  memo?: string
  /** Block number or slot. */
  height: bigint
  blockHash: string
  blockAt: Date
}

/** One reading of one chain transfer to a watched address. `orphaned`: its block is gone. */
export type ObservedChainTransfer = ChainTransfer & {
  kind: 'chain_transfer'
  stage: 'seen' | 'final' | 'orphaned'
  /** The role in which the receiving address was watched. */
  role: 'deposit' | 'recipient'
  /** Counts the changes of this network's final history. A later epoch replaces the earlier ones. */
  epoch: number
  receivedAt: Date
}

/** A transaction that the service names and that is final on its chain: it failed and moved nothing. */
export type TransactionFailure = {
  kind: 'failure'
  /** The role in which the address that is said to be paid is watched. */
  role: ObservedChainTransfer['role']
  network: NetworkName
  tx: TxId
  to: Address
  height: bigint
  receivedAt: Date
}

/** A block or slot, and its time. */
export type BlockTime = { height: bigint; blockAt: Date }

/**
 * A search for a claimed leg that did not find it on its chain. The search alone proves neither that the leg is missing
 * nor that it was not read: that is judged separately.
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
  /**
   * The last block at or before the start of the time in which the leg should have moved; null if no node reaches back
   * to it.
   */
  claimed: { height: bigint } | null
  /** The final blocks read for this address without a gap, up to the newest; null if there are none. */
  read: { from: BlockTime; to: BlockTime } | null
  /** The network has no RPC URL in the settings, so it could not be searched. */
  isUnread?: true
  /** Since when the address is in the address book; null if it is not. */
  bookedAt: Date | null
  receivedAt: Date
}

/**
 * A decision of a person, or of a policy in a person's place. It is stored as evidence like all else, so that it still
 * applies when everything is decided anew. If two decisions contradict each other, a person's outranks a policy's;
 * otherwise the newer one applies.
 */
export type TransferDecision = {
  kind: 'decision'
  /** Chosen by the caller, so that a repeated request is one decision. */
  id: string
  /** The transfer it is about, and the role in which its address is watched. */
  role: ObservedChainTransfer['role']
  network: NetworkName
  tx: TxId
  index: string
  to: Address
  verdict: DecisionOutcome
  /** A name, or `policyName`. */
  by: string
  /** The second person, if one is required. */
  approvedBy: string | null
  reason: string
  receivedAt: Date
}

/** The `by` of decisions that a policy makes in a person's place. */
export const policyName = 'policy'

export function isByPolicy({ by }: TransferDecision): boolean {
  return by === policyName
}

export type DecisionOutcome =
  /** The transfer is, or is not, the payment or a delivery of the deposit with that service id. */
  | { kind: 'together' | 'apart'; serviceId: ServiceId }
  /** The amount that the payment brought in transit is no longer expected: it is lost, or the service owes it. */
  | { kind: 'write_off'; account: 'expenses:write_off' | 'assets:receivable:service' }
  /** A write-off no longer applies. */
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
 * The keys that link observations: observations that share a key are decided together. A payment's key includes its
 * address, because one transaction may pay many people. No key includes the network: an id names one transaction on any
 * network, so that a claim that places it on the wrong network still meets what its chain shows.
 */
export function linkKeys(observation: Observation): string[] {
  if (observation.kind === 'search') return [`service/${observation.serviceId}`]
  if (observation.kind !== 'claim') {
    const { role, tx, to } = observation
    const key = role === 'deposit' ? paymentKey(tx, to) : deliveryKey(tx)
    return observation.kind === 'decision' ? [key, ...serviceKeys(observation.verdict)] : [key]
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

/** The name of a deposit service. Ids that a service chooses are unique only within that service. */
export type ServiceName = Brand<string, 'ServiceName'>

/** The one deposit service that the settings name; the default of every `service` column. */
export const defaultService = 'default' as ServiceName

/** Writes an observation as JSON: amounts and heights as decimal text, times as ISO text. */
export function encodeObservation(observation: Observation): string {
  return JSON.stringify(observation, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

/** Reads the output of `encodeObservation`. It is our own text, so it is trusted and not checked again. */
export function decodeObservation(text: string): Observation {
  return JSON.parse(text, (key, value: unknown) => {
    if (typeof value !== 'string') return value
    if (integerKeys.has(key)) return BigInt(value)
    return key.endsWith('At') ? new Date(value) : value
  }) as Observation
}

const integerKeys: ReadonlySet<string> = new Set(['amount', 'sent', 'fee', 'height'])

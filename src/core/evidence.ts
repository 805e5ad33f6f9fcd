import type { Address, AssetKey, NetworkName, TxId } from './asset.ts'
import type { Brand } from './brand.ts'
import type { Amount } from './money.ts'
import type { WithdrawalClaim } from './withdrawal-claim.ts'

/** The name of a deposit service in the settings. */
export type ServiceName = Brand<string, 'ServiceName'>

/** The service that `SERVICE_URL` names. */
export const defaultService = 'default' as ServiceName

/**
 * Ids that a service chooses are unique only within that service. They are kept as `{service}/{id}`; an id of the default
 * service stands alone, unless it has a slash.
 */
export function idAmongServices(service: ServiceName, id: string): string {
  return service === defaultService && !id.includes('/') ? id : `${service}/${id}`
}

export function serviceOf(id: string): ServiceName {
  const [service = '', rest] = id.split('/', 2)
  return rest === undefined ? defaultService : (service as ServiceName)
}

/** The id as the service itself writes it. */
export function idAtService(id: string): string {
  return id.slice(id.indexOf('/') + 1)
}

/**
 * Stored among the headers of a webhook's row if it stands for a further item of a list. A sender cannot send a header of
 * this name.
 */
export const itemHeader = ':item'

/** Counts from 1. */
export function itemOf(headers: Readonly<Record<string, string>>): number {
  return Number(headers[itemHeader] ?? '1')
}

/** The id of a deposit, unique among services. */
export type ServiceId = Brand<string, 'ServiceId'>

/** One chain transfer: `network/transaction/index`. */
export type TransferRef = Brand<string, 'TransferRef'>

/** The owner of a deposit, by the caller-chosen id of the channel or StableWallet, unique among services. */
export type Owner = { kind: 'channel' | 'stable_wallet'; id: string }

/** The progress of a deposit as the service states it. The mapping translates the service's own words. */
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

export type DepositClaim = {
  network: NetworkName
  address: Address
  asset: AssetKey
  amount: Amount
  tx: TxId | null
  index: string | null
}

/** A credit to a StableWallet is on no chain. */
export const stableWalletNetwork = 'stable-wallet' as NetworkName

/** `address` is the wallet's id for a StableWallet. Amount and fee are those of all transactions together. */
export type SettlementClaim = {
  network: NetworkName
  address: Address
  asset: AssetKey
  amount: Amount | null
  tx: TxId | null
  /** If one claim names several transactions: those after the first. */
  furtherTxs?: readonly TxId[]
  fee: Amount | null
}

export function deliveryTxs({ tx, furtherTxs = [] }: Pick<SettlementClaim, 'tx' | 'furtherTxs'>): TxId[] {
  return tx === null ? [] : [tx, ...furtherTxs]
}

export type RefundClaim = { tx: TxId }

export type Claim = {
  kind: 'claim'
  source: 'webhook' | 'api'
  serviceId: ServiceId
  status: ClaimStatus
  /** Null if the service names none: then the owner of this address in the address book applies. */
  owner: Owner | null
  deposit: DepositClaim
  settlement: SettlementClaim | null
  refund?: RefundClaim
  /** If the service states no time, `isUndated` is set and this is the time of receipt. */
  occurredAt: Date
  isUndated?: true
  receivedAt: Date
}

/** The ledger accepts times up to 15 minutes ahead. */
const aheadMaxMs = 10 * 60_000

/** As the service states; the receipt if the stated time is far later, since the service's clock is wrong then. */
export function statedAt({ occurredAt, receivedAt }: Claim): Date {
  return occurredAt.getTime() - receivedAt.getTime() > aheadMaxMs ? receivedAt : occurredAt
}

export type ChainTransfer = {
  network: NetworkName
  tx: TxId
  /**
   * Distinguishes the transfers of one transaction: the log index (`3`) or `native` on EVM networks; `{asset
   * code}:{owner}` on Solana, where a transfer is a balance change without a number.
   */
  index: string
  asset: AssetKey
  /** Null if the chain does not show it, as with a Solana balance change of several payers. */
  from: Address | null
  to: Address
  amount: Amount
  /** The amount that left the payer, if more than arrived: a token may keep a fee. */
  sent?: Amount
  /** At most 256 characters, without control characters. */
  memo?: string
  height: bigint
  blockHash: string
  blockAt: Date
}

/** `orphaned`: its block is gone. */
export type ObservedChainTransfer = ChainTransfer & {
  kind: 'chain_transfer'
  stage: 'seen' | 'final' | 'orphaned'
  role: 'deposit' | 'recipient'
  /** Counts the changes of this network's final history. A later epoch replaces the earlier ones. */
  epoch: number
  receivedAt: Date
}

/** A transaction that the service names and that is final, but failed and moved nothing. */
export type TransactionFailure = {
  kind: 'failure'
  role: ObservedChainTransfer['role']
  network: NetworkName
  tx: TxId
  to: Address
  height: bigint
  receivedAt: Date
}

export type BlockTime = { height: bigint; blockAt: Date }

/** A search that did not find a claimed leg on its chain. Alone, it does not prove that the leg is missing. */
export type LegSearch = {
  kind: 'search'
  serviceId: ServiceId
  role: ObservedChainTransfer['role']
  network: NetworkName
  to: Address
  /** Null if the service names none. */
  tx: TxId | null
  /** Hosts of nodes that reach back to the time of the claim and do not know the transaction. */
  nodes: readonly string[]
  /** The block that holds the transaction, although the address is not read. */
  found: { height: bigint } | null
  /** The last block at or before the earliest time of the leg; null if no node reaches back to it. */
  claimed: { height: bigint } | null
  /** The final blocks read for this address without a gap, up to the newest; null if there are none. */
  read: { from: BlockTime; to: BlockTime } | null
  /** The network has no RPC URL, so it could not be searched. */
  isUnread?: true
  /** Since when the address is in the address book; null if it is not. */
  bookedAt: Date | null
  receivedAt: Date
}

/**
 * A decision of a person or a policy, stored as evidence so that it still applies when everything is decided anew. If
 * two contradict each other, a person's outranks a policy's; otherwise the newer applies.
 */
export type TransferDecision = {
  kind: 'decision'
  /** Chosen by the caller, so that a repeated request is one decision. */
  id: string
  role: ObservedChainTransfer['role']
  network: NetworkName
  tx: TxId
  index: string
  to: Address
  verdict: DecisionOutcome
  /** A name, or `policyName`. */
  by: string
  approvedBy: string | null
  reason: string
  receivedAt: Date
}

export const policyName = 'policy'

export function isByPolicy({ by }: TransferDecision): boolean {
  return by === policyName
}

export const writeOffAccounts = ['expenses:write_off', 'assets:receivable:service', 'owner'] as const

export type DecisionOutcome =
  /** Whether the transfer is the payment or a delivery of that deposit. */
  | { kind: 'together' | 'apart'; serviceId: ServiceId }
  /**
   * The amount in transit, or what a delivery lacks, is no longer expected: it is lost, the service owes it, or the
   * owner is owed less.
   */
  | ({ kind: 'write_off'; account: (typeof writeOffAccounts)[number] } & OutstandingAmount)
  | { kind: 'write_off_withdrawn' }

/** The payment that is not delivered, or what its delivery lacks. A write-off never takes more than that. */
export type OutstandingAmount = { of: 'in_transit' | 'shortage'; asset: AssetKey; amount: Amount }

export type Observation =
  | Claim
  | ObservedChainTransfer
  | TransactionFailure
  | LegSearch
  | TransferDecision
  | WithdrawalClaim

export function transferRef({ network, tx, index }: Record<'network' | 'tx' | 'index', string>): TransferRef {
  return `${network}/${tx}/${index}` as TransferRef
}

/**
 * Observations that share a key are decided together. A payment's key includes its address, because one transaction may
 * pay many people. No key includes the network, so that a claim on the wrong network still meets what its chain shows.
 */
export function linkKeys(observation: Observation): string[] {
  if (observation.kind === 'search') return [`service/${observation.serviceId}`]
  if (observation.kind === 'withdrawal') {
    const { wallet, withdrawalId, tx } = observation
    const key = `withdrawal/${wallet}/${withdrawalId}`
    return tx === null ? [key] : [key, deliveryKey(tx)]
  }
  if (observation.kind !== 'claim') {
    const { role, tx, to } = observation
    const key = role === 'deposit' ? paymentKey(tx, to) : deliveryKey(tx)
    return observation.kind === 'decision' ? [key, ...serviceKeys(observation.verdict)] : [key]
  }
  const { serviceId, deposit, settlement, refund } = observation
  const keys = [`service/${serviceId}`]
  if (deposit.tx !== null) keys.push(paymentKey(deposit.tx, deposit.address))
  if (settlement !== null) keys.push(...deliveryTxs(settlement).map(deliveryKey))
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

/** Amounts and heights become decimal text, times ISO text. */
export function encodeObservation(observation: Observation): string {
  return JSON.stringify(observation, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
}

/** Our own text, so it is not checked again. */
export function decodeObservation(text: string): Observation {
  return JSON.parse(text, (key, value: unknown) => {
    if (typeof value !== 'string') return value
    if (integerKeys.has(key)) return BigInt(value)
    return key.endsWith('At') ? new Date(value) : value
  }) as Observation
}

const integerKeys: ReadonlySet<string> = new Set(['amount', 'sent', 'fee', 'height'])

import type { Generated, Kysely, Selectable, Transaction } from 'kysely'
import type { Address, AssetCode, NetworkName } from '../core/asset.ts'
import type { SigningKeyScheme } from '../outbox/signing-key.ts'

export type ApiScope = 'read' | 'write'
export type OwnerKind = 'channel' | 'stable_wallet'
export type DepositStatus =
  | 'detected'
  | 'confirmed'
  | 'converting'
  | 'forwarding'
  | 'settled'
  | 'credited'
  | 'held'
  | 'refunding'
  | 'refunded'
  | 'failed'

/**
 * `vanished`: left the chain before it was final. `too_small`: the fee leaves nothing. `sender_unknown`: the policy
 * needs a sender, and the chain shows none. `requested`: by the owner. `undeliverable`: reverted too often.
 * `price_missing`: no price for the conversion. The others name a rule of the policy.
 */
export type DepositReason =
  | 'vanished'
  | 'too_small'
  | 'policy_hold'
  | 'below_minimum'
  | 'asset_denied'
  | 'sender_denied'
  | 'sender_unknown'
  | 'requested'
  | 'undeliverable'
  | 'price_missing'

/** `numeric` columns are decimal strings, `int8` columns `bigint`. */
export type ServiceTables = WebhookTables &
  TransferTables & {
    'service.owner': OwnerTable
    'service.deposit': DepositTable
    'service.policy': PolicyTable
    'service.stream': StreamTable
    'service.api_key': ApiKeyTable
  }

export type ServiceDatabase = Kysely<ServiceTables>
export type ServiceTransaction = Transaction<ServiceTables>

export type ServiceOwnerRow = Selectable<OwnerTable>
export type ApiKeyRow = Selectable<ApiKeyTable>
export type ServiceDepositRow = Selectable<DepositTable>

type OwnerTable = {
  branch: number
  kind: OwnerKind
  id: string
  evm_address: Address
  solana_address: Address
  forward_network: NetworkName | null
  forward_asset: string | null
  forward_recipient: Address | null
  sequence: Generated<bigint>
  created_at: Generated<Date>
}

/** `to_` columns describe the delivery to the forward recipient or StableWallet. */
type DepositTable = {
  id: string
  sequence: Generated<bigint>
  revision: Generated<number>
  owner_kind: OwnerKind
  owner_id: string
  status: DepositStatus
  reason: DepositReason | null
  released_at: Date | null
  network: NetworkName
  address: Address
  asset: string
  contract: Address | null
  decimals: number
  amount: string
  transaction: string
  index: string
  sender: Address | null
  block: bigint
  block_hash: string | null
  block_at: Date
  to_network: NetworkName | null
  to_address: string
  to_asset: string
  to_contract: Address | null
  to_decimals: number
  to_amount: string | null
  to_transaction: string | null
  to_at: Date | null
  fee: string | null
  rate: string | null
  refund_address: Address | null
  refund_amount: string | null
  refund_transaction: string | null
  refund_at: Date | null
  sweep_id: bigint | null
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

/** `body`: as the client sent it. */
type PolicyTable = {
  owner_kind: OwnerKind
  owner_id: string
  body: unknown
  updated_at: Generated<Date>
}

type StreamTable = {
  network: NetworkName
  liquidity_address: Address
  final_height: bigint
  final_hash: string | null
  seen_height: bigint
  seen_hash: string | null
}

type ApiKeyTable = {
  id: string
  hash: Buffer
  name: string
  scope: ApiScope
  created_at: Generated<Date>
  revoked_at: Date | null
}

/** `top_up`: gas for a deposit address before its sweep. `extra`: beside a forward, made by a fault. */
export type TransferKind = 'forward' | 'refund' | 'withdrawal' | 'sweep' | 'top_up' | 'extra'
export type WithdrawalStatus = 'requested' | 'sending' | 'settled' | 'failed'
type TransferOutcome = 'landed' | 'reverted' | 'expired'

export type TransferTables = {
  'service.transfer': TransferTable
  'service.signing': SigningTable
  'service.withdrawal': WithdrawalTable
}

export type ServiceTransferRow = Selectable<TransferTable>
export type SigningRow = Selectable<SigningTable>
export type WithdrawalRow = Selectable<WithdrawalTable>

/** `amount` is what arrives: by the newest version or, once ended, the one that landed. */
type TransferTable = {
  id: Generated<bigint>
  kind: TransferKind
  deposit_id: string | null
  withdrawal: bigint | null
  attempt: Generated<number>
  network: NetworkName
  branch: number
  nonce: bigint | null
  asset: AssetCode
  to_address: Address
  amount: string
  outcome: TransferOutcome | null
  transaction: string | null
  created_at: Generated<Date>
}

type SigningTable = {
  transaction: string
  transfer_id: bigint
  version: Generated<number>
  amount: string
  bytes: Buffer
  expires_height: bigint | null
  created_at: Generated<Date>
}

/** `amount` has 6 decimals on every network. */
type WithdrawalTable = {
  sequence: Generated<bigint>
  owner_kind: Generated<'stable_wallet'>
  wallet_id: string
  id: string
  network: NetworkName
  recipient: Address
  asset: AssetCode
  amount: string
  status: Generated<WithdrawalStatus>
  transaction: string | null
  settled_at: Date | null
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

export type WebhookTables = {
  'service.event': EventTable
  'service.webhook_endpoint': EndpointTable
  'service.webhook_secret': SecretTable
  'service.delivery': DeliveryTable
  'service.delivery_attempt': AttemptTable
}

export type EndpointRow = Selectable<EndpointTable>
export type SecretRow = Selectable<SecretTable>
export type DeliveryRow = Selectable<DeliveryTable>
export type AttemptRow = Selectable<AttemptTable>

/** `deposit_id` and `revision` are null only for the test of an endpoint. */
type EventTable = {
  id: string
  sequence: Generated<bigint>
  type: string
  deposit_id: string | null
  revision: number | null
  body: string
  created_at: Date
}

type EndpointTable = {
  id: string
  sequence: Generated<bigint>
  url: string
  types: string[] | null
  configured: boolean
  status: Generated<'active' | 'disabled' | 'deleted'>
  disabled_because: 'gone' | 'requested' | null
  resume_at: Date | null
  created_at: Generated<Date>
}

type SecretTable = {
  endpoint_id: string
  version: number
  scheme: SigningKeyScheme
  sealed: Buffer
  public_key: string | null
  created_at: Generated<Date>
  expires_at: Date | null
}

/** `cancelled`: the endpoint was disabled or deleted. */
export type DeliveryStatus = 'pending' | 'delivered' | 'failed' | 'cancelled'

type DeliveryTable = {
  event_id: string
  endpoint_id: string
  sequence: Generated<bigint>
  status: Generated<DeliveryStatus>
  attempts: Generated<number>
  tries: Generated<number>
  next_at: Generated<Date | null>
  created_at: Generated<Date>
  ended_at: Date | null
}

type AttemptTable = {
  event_id: string
  endpoint_id: string
  number: number
  started_at: Date
  duration_ms: number | null
  status_code: number | null
  problem: string | null
  answer: string | null
}

import type { Generated, Kysely, Selectable, Transaction } from 'kysely'
import type { Address, NetworkName } from '../core/asset.ts'
import type { TransferTables } from './transfers/tables.ts'
import type { WebhookTables } from './webhooks/tables.ts'

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
 * Why a deposit failed, is held or is refunded. `vanished`: it left the chain before it was final. `too_small`: the fee
 * leaves nothing. `sender_unknown`: the policy needs a sender to check or to refund, and the chain does not show one.
 * `requested`: the owner asked for the refund. `undeliverable`: its forward or refund reverted too often.
 * `price_missing`: no price is available for the conversion. The others name a rule of the policy.
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

/** Queries return `numeric` columns as decimal strings and `int8` columns as `bigint`. */
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

/** The columns that begin with `to_` describe the delivery to the forward recipient or to the StableWallet. */
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

/** `body` is the document as the client sent it. */
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

import type { Generated, Kysely, Selectable, Transaction } from 'kysely'
import type { Address, NetworkName } from '../core/asset.ts'
import type { WebhookTables } from './webhooks/tables.ts'

export type Scope = 'read' | 'write'
export type OwnerKind = 'channel' | 'stable_wallet'
export type DepositStatus = 'detected' | 'confirmed' | 'forwarding' | 'settled' | 'credited' | 'failed'
/** `vanished`: gone from the chain before it was final. `too_small`: nothing is left after the fee. */
export type DepositFailure = 'vanished' | 'too_small'
type ForwardOutcome = 'landed' | 'reverted' | 'expired'

/** `numeric` columns arrive as decimal text and `int8` columns as `bigint`. */
export type ServiceTables = WebhookTables & {
  'service.owner': OwnerTable
  'service.deposit': DepositTable
  'service.forward': ForwardTable
  'service.stream': StreamTable
  'service.api_key': ApiKeyTable
}

export type ServiceDatabase = Kysely<ServiceTables>
export type ServiceTransaction = Transaction<ServiceTables>

export type OwnerRow = Selectable<OwnerTable>
export type ApiKeyRow = Selectable<ApiKeyTable>
export type DepositRow = Selectable<DepositTable>
export type ForwardRow = Selectable<ForwardTable>

type OwnerTable = {
  branch: number
  kind: OwnerKind
  id: string
  evm_address: Address
  solana_address: Address
  forward_network: NetworkName | null
  forward_asset: string | null
  forward_recipient: Address | null
  created_at: Generated<Date>
}

/** The columns that begin with `to_` are the delivery: to the forward recipient, or to the StableWallet. */
type DepositTable = {
  id: string
  sequence: Generated<bigint>
  revision: Generated<number>
  owner_kind: OwnerKind
  owner_id: string
  status: DepositStatus
  failure: DepositFailure | null
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
  created_at: Generated<Date>
  updated_at: Generated<Date>
}

type ForwardTable = {
  transaction: string
  deposit_id: string
  attempt: number
  network: NetworkName
  nonce: bigint | null
  expires_height: bigint | null
  amount: string
  bytes: Buffer
  outcome: ForwardOutcome | null
  created_at: Generated<Date>
}

type StreamTable = {
  network: NetworkName
  liquidity_address: Address
  next_nonce: Generated<bigint>
  final_height: bigint
  final_hash: string | null
  seen_height: bigint
  seen_hash: string | null
}

type ApiKeyTable = {
  id: string
  hash: Buffer
  name: string
  scope: Scope
  created_at: Generated<Date>
  revoked_at: Date | null
}

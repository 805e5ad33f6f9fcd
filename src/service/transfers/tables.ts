import type { Generated, Selectable } from 'kysely'
import type { Address, AssetCode, NetworkName } from '../../core/asset.ts'

/** `top_up`: gas for a deposit address before its sweep. `stray`: an extra payment by a fault, beside a forward. */
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

/** `amount` is the amount that arrives: of the newest version, and once ended, of the version that landed. */
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

/** `amount` is in base units of the balance, which has 6 decimals on every network. */
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

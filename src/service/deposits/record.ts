import type { NetworkSettings } from '../../core/asset.ts'
import { showAddress } from '../keyring/keyring.ts'
import type { DepositReason, DepositStatus, OwnerKind, ServiceDepositRow } from '../tables.ts'

/** Amounts are base units as decimal strings; times are ISO 8601; EVM addresses are EIP-55 checksummed. */
export type DepositRecord = {
  id: string
  owner: { type: OwnerKind; id: string }
  status: DepositStatus
  reason: DepositReason | null
  source: {
    network: string
    address: string
    asset: string
    /** Null for the native coin. */
    contract: string | null
    decimals: number
    amount: string
    transaction: string
    /** The log index or `native` on EVM networks, `{mint or native}:{deposit address}` on Solana. */
    index: string
    sender: string | null
    block: string
    time: string
  }
  destination: {
    /** Null for a StableWallet, which spans all networks. */
    network: string | null
    /** The forward recipient, or the id of the StableWallet. */
    address: string
    asset: string
    contract: string | null
    decimals: number
    /** Null until the deposit is converted. */
    amount: string | null
    transaction: string | null
    time: string | null
  }
  /** In the destination asset. Null until the deposit is converted. */
  fee: { asset: string; amount: string } | null
  rate: string | null
  /** In the deposited asset. The transaction is null until the refund is signed. */
  refund: { address: string; amount: string; transaction: string | null; time: string | null } | null
  created_at: string
  updated_at: string
}

export type ShowRecord = (row: ServiceDepositRow) => DepositRecord

export function recordWriter(networks: readonly NetworkSettings[]): ShowRecord {
  const families = new Map(networks.map(({ name, family }) => [name, family]))
  const show = <Text extends string | null>(
    network: ServiceDepositRow['to_network'],
    address: Text,
  ): Text => {
    const family = network === null ? undefined : families.get(network)
    return (address === null || family === undefined ? address : showAddress(family, address)) as Text
  }
  return (row) => ({
    id: row.id,
    owner: { type: row.owner_kind, id: row.owner_id },
    status: row.status,
    reason: row.reason,
    source: {
      network: row.network,
      address: show(row.network, row.address),
      asset: row.asset,
      contract: show(row.network, row.contract),
      decimals: row.decimals,
      amount: row.amount,
      transaction: row.transaction,
      index: row.index,
      sender: show(row.network, row.sender),
      block: row.block.toString(),
      time: row.block_at.toISOString(),
    },
    destination: {
      network: row.to_network,
      address: show(row.to_network, row.to_address),
      asset: row.to_asset,
      contract: show(row.to_network, row.to_contract),
      decimals: row.to_decimals,
      amount: row.to_amount,
      transaction: row.to_transaction,
      time: row.to_at?.toISOString() ?? null,
    },
    fee: row.fee === null ? null : { asset: row.to_asset, amount: row.fee },
    rate: row.rate,
    refund: refundOf(row, (address) => show(row.network, address)),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  })
}

function refundOf(row: ServiceDepositRow, show: (address: string) => string): DepositRecord['refund'] {
  const { refund_address: address, refund_amount: amount, refund_transaction: transaction } = row
  if (address === null || amount === null) return null
  return { address: show(address), amount, transaction, time: row.refund_at?.toISOString() ?? null }
}

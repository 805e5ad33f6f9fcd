import { type RawBuilder, sql } from 'kysely'
import type { Logger } from 'pino'
import type { Faults } from '../faults/faults.ts'
import type { Keyring } from '../keyring/keyring.ts'
import type { NetworkClient, TransferOrder } from '../network/port.ts'
import type { RetryBackoff } from '../running/postponed.ts'
import type { ServiceDatabase } from '../tables.ts'
import type { ServiceTransferRow } from './tables.ts'

/** A transfer that is to be signed now, and what it is for. */
export type DueTransfer = Purpose & {
  order: TransferOrder
  /** By which it is put off where it fails. */
  key: string
}

type Purpose =
  /** `alsoPays` are deposits that it pays beside the one that it is of. */
  | { kind: 'forward'; depositId: string; alsoPays: readonly string[] }
  | { kind: 'refund'; depositId: string }
  /** The deposit names the transaction of one that is told before it names that of its forward. */
  | { kind: 'stray'; depositId: string; isTold: boolean }
  | { kind: 'withdrawal'; withdrawal: bigint }
  /** Collects these deposits, and nothing else, from their address. */
  | { kind: 'sweep'; depositIds: readonly string[] }
  | { kind: 'top_up' }

/** What looking for wanted transfers of a network uses. */
export type DueTransferDeps = {
  db: ServiceDatabase
  network: NetworkClient
  keyring: Keyring
  faults: Faults
  postponed: RetryBackoff
  log: Logger
}

/** How many payments of a kind are signed at once. */
export const paymentsMax = 200

/**
 * Holds for a row of `service.deposit as deposit` of which no transfer has moved money or still can, and which names
 * none such that is another's.
 */
export const isUnpaidDeposit: RawBuilder<boolean> = sql<boolean>`(not exists (
  select from service.transfer
  where deposit_id = deposit.id and kind in ('forward', 'refund') and (outcome is null or outcome = 'landed'))
  and not exists (
    select from service.signing join service.transfer on transfer.id = signing.transfer_id
    where signing.transaction = deposit.to_transaction
      and kind = 'forward' and (outcome is null or outcome = 'landed')))`

/** The same for a row of `service.withdrawal as withdrawal`. */
export const isUnpaidWithdrawal: RawBuilder<boolean> = sql<boolean>`not exists (
  select from service.transfer
  where withdrawal = withdrawal.sequence and (outcome is null or outcome = 'landed'))`

/** The deposits that it pays; the one that it is of comes first. */
export function paidDeposits(wanted: DueTransfer): readonly string[] {
  if (wanted.kind === 'forward') return [wanted.depositId, ...wanted.alsoPays]
  return 'depositId' in wanted ? [wanted.depositId] : []
}

/** The key under which a stored transfer was wanted. */
export function keyOf(transfer: ServiceTransferRow): string {
  const { kind, deposit_id: deposit, withdrawal, to_address: address, branch, asset } = transfer
  if (deposit !== null) return deposit
  if (withdrawal !== null) return `withdrawal/${withdrawal}`
  return kind === 'top_up' ? topUpKey(address) : sweepKey(branch, asset)
}

export function topUpKey(address: string): string {
  return `top_up/${address}`
}

export function sweepKey(branch: number, code: string): string {
  return `sweep/${branch}/${code}`
}

import { type RawBuilder, sql } from 'kysely'
import type { Logger } from 'pino'
import { logEvent } from '../../log/log-event.ts'
import type { Deposits } from '../deposits/deposits.ts'
import type { Faults } from '../faults/faults.ts'
import type { Keyring } from '../keyring/keyring.ts'
import type { NetworkClient, TransferDraft, TransferOrder } from '../network/port.ts'
import type { RetryBackoff } from '../running/loop.ts'
import { describeError, mapBounded } from '../running/requests.ts'
import type { ServiceDatabase, ServiceTransferRow } from '../tables.ts'

export type DueTransfer = Purpose & {
  order: TransferOrder
  /** The transfer is postponed under this key if it fails. */
  key: string
}

type Purpose =
  | { kind: 'forward'; depositId: string; alsoPays: readonly string[] }
  | { kind: 'refund'; depositId: string }
  /** If `isReported`, the deposit names this transaction before that of its forward. */
  | { kind: 'extra'; depositId: string; isReported: boolean }
  | { kind: 'withdrawal'; withdrawal: bigint }
  | { kind: 'sweep'; depositIds: readonly string[] }
  | { kind: 'top_up' }

export type DueTransferDeps = {
  db: ServiceDatabase
  network: NetworkClient
  keyring: Keyring
  faults: Faults
  backoff: RetryBackoff
  log: Logger
}

export const paymentsMax = 200

/**
 * For `service.deposit as deposit`: no transfer has paid it or still can, and it names no transaction of another
 * deposit's forward that has landed or still can.
 */
export const isUnpaidDeposit: RawBuilder<boolean> = sql<boolean>`(not exists (
  select from service.transfer
  where deposit_id = deposit.id and kind in ('forward', 'refund') and (outcome is null or outcome = 'landed'))
  and not exists (
    select from service.signing join service.transfer on transfer.id = signing.transfer_id
    where signing.transaction = deposit.to_transaction
      and kind = 'forward' and (outcome is null or outcome = 'landed')))`

export const isUnpaidWithdrawal: RawBuilder<boolean> = sql<boolean>`not exists (
  select from service.transfer
  where withdrawal = withdrawal.sequence and (outcome is null or outcome = 'landed'))`

export function paidDeposits(wanted: DueTransfer): readonly string[] {
  if (wanted.kind === 'forward') return [wanted.depositId, ...wanted.alsoPays]
  return 'depositId' in wanted ? [wanted.depositId] : []
}

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

export type TransferSigningDeps = {
  db: ServiceDatabase
  deposits: Deposits
  network: NetworkClient
  backoff: RetryBackoff
  log: Logger
}

export type DraftedTransfer = { wanted: DueTransfer; draft: TransferDraft }

/** By branch; null if the network has no nonces. */
export type ChainNonces = ReadonlyMap<number, bigint | null>

/** Delays grow. */
export function postpone(
  { backoff, log }: Pick<TransferSigningDeps, 'backoff' | 'log'>,
  { kind, key }: Pick<DueTransfer, 'kind' | 'key'>,
  error: unknown,
): void {
  const failures = backoff.failed(key)
  logEvent(log, 'transfer_postponed', { kind, key, failures, problem: describeError(error) })
}

const requestsAtOnce = 8

/** Rejected bytes are sent again when their outcome is next checked. */
export async function sendTransfers(
  network: NetworkClient,
  signed: readonly { transaction: string; bytes: Uint8Array }[],
  log: Logger,
): Promise<void> {
  await mapBounded(signed, requestsAtOnce, async ({ transaction, bytes }) => {
    try {
      await network.send(bytes)
    } catch (error) {
      const problem = describeError(error)
      logEvent(log, 'transfer_not_accepted', { transaction, problem })
    }
  })
}

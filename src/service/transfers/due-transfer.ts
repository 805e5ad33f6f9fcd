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

/** A transfer to sign now, and its purpose. */
export type DueTransfer = Purpose & {
  order: TransferOrder
  /** The key under which the transfer is postponed if it fails. */
  key: string
}

type Purpose =
  /** `alsoPays` are the other deposits that the transfer pays. */
  | { kind: 'forward'; depositId: string; alsoPays: readonly string[] }
  | { kind: 'refund'; depositId: string }
  /** If `isReported`, the deposit names this transaction before it names that of its forward. */
  | { kind: 'extra'; depositId: string; isReported: boolean }
  | { kind: 'withdrawal'; withdrawal: bigint }
  /** Collects exactly these deposits from their address. */
  | { kind: 'sweep'; depositIds: readonly string[] }
  | { kind: 'top_up' }

/** Dependencies for finding the due transfers of a network. */
export type DueTransferDeps = {
  db: ServiceDatabase
  network: NetworkClient
  keyring: Keyring
  faults: Faults
  backoff: RetryBackoff
  log: Logger
}

/** The maximum number of payments of one kind signed at once. */
export const paymentsMax = 200

/**
 * True for a row of `service.deposit as deposit` if no transfer has paid it or still can, and it does not name the
 * transaction of another deposit's forward that has landed or still can.
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

/** All deposits that the transfer pays, its own deposit first. */
export function paidDeposits(wanted: DueTransfer): readonly string[] {
  if (wanted.kind === 'forward') return [wanted.depositId, ...wanted.alsoPays]
  return 'depositId' in wanted ? [wanted.depositId] : []
}

/** The key of the `DueTransfer` from which a stored transfer was made. */
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

/** Dependencies for signing and following the transfers of a network. */
export type TransferSigningDeps = {
  db: ServiceDatabase
  deposits: Deposits
  network: NetworkClient
  backoff: RetryBackoff
  log: Logger
}

export type DraftedTransfer = { wanted: DueTransfer; draft: TransferDraft }

/** By branch: the nonce that the chain expects next; null if the network has no nonces. */
export type ChainNonces = ReadonlyMap<number, bigint | null>

/** Postpones a transfer with growing delays, so that it does not block the others. */
export function postpone(
  { backoff, log }: Pick<TransferSigningDeps, 'backoff' | 'log'>,
  { kind, key }: Pick<DueTransfer, 'kind' | 'key'>,
  error: unknown,
): void {
  const failures = backoff.failed(key)
  logEvent(log, 'transfer_postponed', { kind, key, failures, problem: describeError(error) })
}

const requestsAtOnce = 8

/** Sends stored bytes. If the node rejects them, they are sent again when their outcome is next checked. */
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

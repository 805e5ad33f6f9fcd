import type { Logger } from 'pino'
import { logEvent } from '../../log/log-event.ts'
import type { Deposits } from '../deposits/deposits.ts'
import type { NetworkClient, TransferDraft } from '../network/port.ts'
import { describeError } from '../running/describe-error.ts'
import type { RetryBackoff } from '../running/postponed.ts'
import type { ServiceDatabase } from '../tables.ts'
import type { DueTransfer } from './wanted.ts'

/** Dependencies for signing and following the transfers of a network. */
export type TransferSigningDeps = {
  db: ServiceDatabase
  deposits: Deposits
  network: NetworkClient
  postponed: RetryBackoff
  log: Logger
}

export type DraftedTransfer = { wanted: DueTransfer; draft: TransferDraft }

/** By branch: the nonce that the chain expects next; null if the network has no nonces. */
export type ChainNonces = ReadonlyMap<number, bigint | null>

/** Postpones a transfer with growing delays, so that it does not block the others. */
export function postpone(
  { postponed, log }: Pick<TransferSigningDeps, 'postponed' | 'log'>,
  { kind, key }: Pick<DueTransfer, 'kind' | 'key'>,
  error: unknown,
): void {
  const failures = postponed.failed(key)
  logEvent(log, 'transfer_postponed', { kind, key, failures, problem: describeError(error) })
}

import type { Logger } from 'pino'
import { tell } from '../../log/tell.ts'
import type { Deposits } from '../deposits/deposits.ts'
import type { Draft, Network } from '../network/port.ts'
import { describeError } from '../running/describe-error.ts'
import type { Postponed } from '../running/postponed.ts'
import type { ServiceDatabase } from '../tables.ts'
import type { Wanted } from './wanted.ts'

/** What signing and following the transfers of a network uses. */
export type Signing = {
  db: ServiceDatabase
  deposits: Deposits
  network: Network
  postponed: Postponed
  log: Logger
}

export type Drafted = { wanted: Wanted; draft: Draft }

/** By branch: the nonce that the chain expects next; null where it has none. */
export type ChainNonces = ReadonlyMap<number, bigint | null>

/** It waits ever longer, and keeps none of the others from its turn. */
export function postpone(
  { postponed, log }: Pick<Signing, 'postponed' | 'log'>,
  { kind, key }: Pick<Wanted, 'kind' | 'key'>,
  error: unknown,
): void {
  const failures = postponed.failed(key)
  tell(log, 'transfer_postponed', { kind, key, failures, problem: describeError(error) })
}

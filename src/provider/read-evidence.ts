import { defaultService, type ServiceName } from '../core/evidence.ts'
import type { WithdrawalClaim } from '../core/withdrawal-claim.ts'
import { parseLossless } from './lossless-json.ts'
import { compileWithdrawal } from './profile/compile-withdrawal.ts'
import { refuse } from './profile/find-field.ts'
import type { Vocabulary } from './profile/known-assets.ts'
import type { Profile } from './profile/profile-schema.ts'
import {
  type ClaimPayload,
  type ClaimReading,
  catchUnreadable,
  createClaimReader,
  parsePayload,
  textOf,
} from './read-claim.ts'

export type ServiceReading =
  | ClaimReading
  | { kind: 'withdrawal'; withdrawal: WithdrawalClaim; items?: number }

/** `wallet` is the id at the service of the StableWallet of which the payload is a withdrawal. */
export type ServicePayload = ClaimPayload & { wallet?: string | undefined }

export type ServiceReader = (payload: ServicePayload) => ServiceReading

export type AnyServiceReader = (payload: ServicePayload & { service: ServiceName }) => ServiceReading

/** What a service sent that is no longer in the settings is kept unread. */
export function readerOfServices(readers: ReadonlyMap<ServiceName, ServiceReader>): AnyServiceReader {
  return (payload) => {
    const read = readers.get(payload.service)
    if (read !== undefined) return read(payload)
    const { service } = payload
    return {
      kind: 'schema_drift',
      path: '',
      problem: `the service ${service} is not in the settings`,
      value: service,
      fix: `add services.${service} again`,
    }
  }
}

/** Reads withdrawals, too. */
export function createServiceReader(
  profile: Profile,
  vocabulary: Vocabulary,
  service: ServiceName = defaultService,
): ServiceReader {
  const readClaim = createClaimReader(profile, vocabulary, service)
  const { withdrawals } = profile.owners.wallets
  const read = withdrawals && compileWithdrawal(withdrawals, { profile, vocabulary, service })
  return (message) => {
    const { wallet, body, receivedAt } = message
    if (wallet === undefined) return readClaim(message)
    return catchUnreadable(() => {
      if (read === undefined)
        return refuse('', 'is a withdrawal', { fix: 'add owners.wallets.withdrawals to the profile again' })
      const payload = parsePayload(textOf(body), parseLossless)
      return { kind: 'withdrawal', withdrawal: read({ payload, record: payload }, { wallet, receivedAt }) }
    })
  }
}

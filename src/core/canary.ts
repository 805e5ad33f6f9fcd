import type { AssetKey, NetworkName } from './asset.ts'
import type { Owner } from './evidence.ts'
import type { Amount } from './money.ts'

/** The outcome of a webhook that we sent to ourselves. */
export const canaryWebhookOutcomes = [
  'received',
  'refused',
  'redirected',
  'unrecorded',
  'failed',
  'timeout',
] as const
export type CanaryWebhookOutcome = (typeof canaryWebhookOutcomes)[number]

/** The outcome of a payment that we made to ourselves. */
export const canaryDepositOutcomes = ['reconciled', 'late', 'unpaid'] as const
export type CanaryDepositOutcome = (typeof canaryDepositOutcomes)[number]

/** What a canary pays, to which owner, on which network. Its deposits belong to no customer. */
export type CanaryPlace = { network: NetworkName; asset: AssetKey; amount: Amount; owner: Owner }

export const webhookCanary = 'webhook'

/** The name of a network's canary, in the database and as the key of its job. */
export function depositCanary(network: NetworkName): string {
  return `deposit/${network}`
}

/** A token is 32 random bytes, known only to the database and the recipient. */
const bodyForm = /^\{"type":"depositd\.canary","token":"([\w-]{43})"\}$/
export function canaryBody(token: string): Buffer {
  return Buffer.from(`{"type":"depositd.canary","token":"${token}"}`)
}

const bodyBytes = canaryBody('x'.repeat(43)).length

/** The token in a body that has the form of a canary, otherwise null. Other bodies cost one comparison of lengths. */
export function canaryToken(body: Buffer): string | null {
  return body.length === bodyBytes ? (bodyForm.exec(body.toString('latin1'))?.[1] ?? null) : null
}

import type { AssetKey, NetworkName } from './asset.ts'
import type { Owner } from './evidence.ts'
import type { Amount } from './money.ts'

/** How a webhook that we sent to ourselves ended. */
export const canaryWebhookOutcomes = [
  'received',
  'refused',
  'redirected',
  'unrecorded',
  'failed',
  'timeout',
] as const
export type CanaryWebhookOutcome = (typeof canaryWebhookOutcomes)[number]

/** How a payment that we made to ourselves ended. */
export const canaryDepositOutcomes = ['reconciled', 'late', 'unpaid'] as const
export type CanaryDepositOutcome = (typeof canaryDepositOutcomes)[number]

/** What is paid to whom, on which network; its deposits are no customer's. */
export type CanaryPlace = { network: NetworkName; asset: AssetKey; amount: Amount; owner: Owner }

export const webhookCanary = 'webhook'

/** How the canary of a network is called, in the database and as the key of its job. */
export function depositCanary(network: NetworkName): string {
  return `deposit/${network}`
}

/** A token is 32 bytes of chance, which nobody but the database and its recipient knows. */
const bodyForm = /^\{"type":"depositd\.canary","token":"([\w-]{43})"\}$/
export function canaryBody(token: string): Buffer {
  return Buffer.from(`{"type":"depositd.canary","token":"${token}"}`)
}

const bodyBytes = canaryBody('x'.repeat(43)).length

/** The token in a body that has the form of a canary; null for any other, which costs one comparison. */
export function canaryToken(body: Buffer): string | null {
  return body.length === bodyBytes ? (bodyForm.exec(body.toString('latin1'))?.[1] ?? null) : null
}

import type { IncomingHttpHeaders } from 'node:http'
import type { WebhookAuthSettings } from '../../config/webhook-settings.ts'

/**
 * The body is byte for byte; header names are in lower case. `path` includes the query. A stored delivery has `:method`
 * and `:path` among its headers instead, as in HTTP/2: no request can contain such a header.
 */
export type WebhookDelivery = {
  headers: IncomingHttpHeaders
  body: Buffer
  receivedAt: Date
  method?: string | undefined
  path?: string | undefined
}

export type RequestLine = { ':method': string; ':path': string }

/** Safe for metrics and logs: contains no data from the sender. */
export type Refusal =
  | 'id_malformed'
  | 'timestamp_malformed'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'signature_missing'
  | 'signature_wrong'
  | 'scheme_unknown'

/**
 * `id` is signed, and a resend repeats it; null if the scheme signs no id beside the body. `line` is set if the scheme
 * signs any of it.
 */
export type SignatureVerdict =
  | { kind: 'verified'; id: string | null; line?: RequestLine }
  | { kind: 'refused'; reason: Refusal }

/** Synchronous, and without a clock of its own. */
export type SignatureScheme = (delivery: WebhookDelivery) => SignatureVerdict

/** Header names are in lower case; `tolerance` is in milliseconds. */
export type SchemeSettings = WebhookAuthSettings['signing']
type SettingsOf<Name extends SchemeSettings['scheme']> = Extract<SchemeSettings, { scheme: Name }>

export type StandardWebhooksSettings = SettingsOf<'standard-webhooks' | 'svix'>
export type SharedSecretSettings = SettingsOf<'shared-secret'>
export type HmacSettings = SettingsOf<'hmac'>
export type PublicKeySettings = SettingsOf<'public-key'>
export type SignedSettings = Omit<HmacSettings, 'scheme' | 'algorithm' | 'key'>
export type TimestampSettings = NonNullable<HmacSettings['timestamp']>

export type Keys = WebhookAuthSettings['keys']
export type Secret = Keys['secrets'][number]

import type { IncomingHttpHeaders } from 'node:http'

/** The body is byte for byte; header names are in lower case. */
export type WebhookDelivery = { headers: IncomingHttpHeaders; body: Buffer; receivedAt: Date }

/** Safe for metrics and logs: contains no data from the sender. */
export type Refusal =
  | 'id_malformed'
  | 'timestamp_malformed'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'signature_missing'
  | 'signature_wrong'

/** `id` is signed, and a resend repeats it; null if the scheme signs no id beside the body. */
export type SignatureVerdict = { kind: 'verified'; id: string | null } | { kind: 'refused'; reason: Refusal }

/** Synchronous, and without a clock of its own. */
export type SignatureScheme = (delivery: WebhookDelivery) => SignatureVerdict

/** Header names are in lower case; `tolerance` is in milliseconds. */
export type SchemeSettings =
  | StandardWebhooksSettings
  | StripeSettings
  | GithubSettings
  | HmacSettings
  | PublicKeySettings
  | SharedSecretSettings
  | { scheme: 'none' }

/** `headers` is the common prefix of the three header names, as in `webhook-id`. */
export type StandardWebhooksSettings = {
  scheme: 'standard-webhooks' | 'svix'
  headers: string
  tolerance: number
}

export type StripeSettings = { scheme: 'stripe'; header: string; tolerance: number }

export type GithubSettings = { scheme: 'github'; header: string }

export type SharedSecretSettings = { scheme: 'shared-secret'; header: string; prefix: string }

export type SignedSettings = {
  header: string
  field?: string | undefined
  prefix: string
  encoding: 'hex' | 'base64' | 'base64url'
  /** With `{body}` once, and `{id}` and `{timestamp}` if they are signed. */
  template: string
  id?: { header: string } | undefined
  timestamp?: TimestampSettings | undefined
  tolerance: number
}

export type TimestampSettings = { header: string; field?: string | undefined; unit: 's' | 'ms' | 'iso' }

export type HmacSettings = SignedSettings & {
  scheme: 'hmac'
  algorithm: 'sha1' | 'sha256' | 'sha384' | 'sha512'
  key: 'utf8' | 'base64' | 'hex' | 'whsec'
}

export type PublicKeySettings = SignedSettings & {
  scheme: 'public-key'
  algorithm: 'ed25519' | 'rsa-sha256' | 'rsa-sha512' | 'rsa-pss-sha256' | 'ecdsa-sha256' | 'ecdsa-sha384'
  /** ECDSA only: a DER sequence, or both numbers concatenated. */
  signatureForm: 'der' | 'p1363'
}

/** Valid for deliveries received from `notBefore` until before `notAfter`; null means no bound. */
export type Secret = { text: string; notBefore: Date | null; notAfter: Date | null }

export type Keys = { secrets: readonly Secret[]; publicKeys: string | null }

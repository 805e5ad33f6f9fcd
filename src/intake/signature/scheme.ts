import type { IncomingHttpHeaders } from 'node:http'

/** One request as it came: header names in lower case, the body byte for byte. */
export type Delivery = { headers: IncomingHttpHeaders; body: Buffer; receivedAt: Date }

/** Why a delivery is not believed. Safe to count and to log: it holds nothing the sender chose. */
export type Refusal =
  | 'id_malformed'
  | 'timestamp_malformed'
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  | 'signature_missing'
  | 'signature_wrong'

/** `id` is the sender's own for this event; it was signed, so that a resend has the same. */
export type Verdict = { kind: 'verified'; id: string } | { kind: 'refused'; reason: Refusal }

/** Decides whether the sender holds the secret. Synchronous, and without a clock of its own. */
export type Scheme = (delivery: Delivery) => Verdict

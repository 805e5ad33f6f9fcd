import { createHash } from 'node:crypto'
import type { ReceivedWebhook } from './inbox-writer.ts'
import { isJson } from './json.ts'
import { keptHeaders } from './kept-headers.ts'
import type { Refusal, SchemeSettings, Secret, SignatureScheme, WebhookDelivery } from './signature/scheme.ts'

/** A delivery as it enters the inbox, or why it does not. */
export type Admission =
  | { kind: 'admitted'; row: ReceivedWebhook }
  | { kind: 'refused'; reason: Refusal }
  | { kind: 'not_json' }

export type AdmissionDeps = {
  verify: SignatureScheme
  /** The current signature settings. */
  signing: () => SchemeSettings
  /** The active secrets. A header that contains one is stored as a hash. */
  secrets: () => readonly Secret[]
  /** Used if the scheme signs no event id. */
  readEventId: EventIdReader
}

/** Judges one delivery by its signed content alone. */
export function admitDelivery(admitting: AdmissionDeps, delivery: WebhookDelivery): Admission {
  const { verify, signing, secrets, readEventId } = admitting
  const verdict = verify(delivery)
  if (verdict.kind === 'refused') return verdict
  const { body, headers, receivedAt } = delivery
  if (!isJson(body)) return { kind: 'not_json' }
  const row: ReceivedWebhook = {
    source: 'webhook',
    sourceKey: verdict.id ?? eventKey(body, readEventId),
    body,
    // Ours comes last and overrides a header of the same name.
    headers: { ...keptHeaders(headers, signing(), secrets()), 'verified-by': signing().scheme },
    receivedAt,
  }
  return { kind: 'admitted', row }
}

/** Finds the sender's event id in a body; null if it has none. */
type EventIdReader = (body: Buffer) => string | null

// The store appends a space to the id if one event arrived with several bodies. Longer keys do not fit an index.
const idForm = /^[\x21-\x7e]{1,256}$/

/**
 * Key of a webhook whose scheme signs no separate id: the id in the signed body. If the body has no usable id, the key
 * is the hash of the body, so an identical resend is still recognised.
 */
export function eventKey(body: Buffer, readId: EventIdReader): string {
  const id = readId(body)
  return id !== null && idForm.test(id) ? id : `sha256:${createHash('sha256').update(body).digest('hex')}`
}

import { createHash } from 'node:crypto'
import type { ReceivedWebhook } from './inbox-writer.ts'
import { isJson } from './json.ts'
import { keptHeaders } from './kept-headers.ts'
import type { Refusal, SchemeSettings, Secret, SignatureScheme, WebhookDelivery } from './signature/scheme.ts'

/** A delivery as it goes into the inbox, or why it does not. */
export type Admission =
  | { kind: 'admitted'; row: ReceivedWebhook }
  | { kind: 'refused'; reason: Refusal }
  | { kind: 'not_json' }

export type AdmissionDeps = {
  verify: SignatureScheme
  /** How webhooks are signed now. */
  signing: () => SchemeSettings
  /** Those in force, which are not kept readable wherever a header holds them. */
  secrets: () => readonly Secret[]
  /** Asked where the scheme signs no id of the event. */
  readEventId: EventIdReader
}

/** Judges one delivery by what was signed, and by nothing else that it says. */
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
    // Ours comes last, whatever the sender calls its own.
    headers: { ...keptHeaders(headers, signing(), secrets()), 'verified-by': signing().scheme },
    receivedAt,
  }
  return { kind: 'admitted', row }
}

/** Finds the sender's id of the event in a body; null where it holds none. */
type EventIdReader = (body: Buffer) => string | null

// A space follows the id where one event came with several bodies; an index takes no longer key.
const idForm = /^[\x21-\x7e]{1,256}$/

/**
 * The key of a webhook whose scheme signs no id beside the body: the id in the body, which is signed. Without one that
 * can be kept it is the hash of the body, so that a resend is still recognised by its bytes.
 */
export function eventKey(body: Buffer, readId: EventIdReader): string {
  const id = readId(body)
  return id !== null && idForm.test(id) ? id : `sha256:${createHash('sha256').update(body).digest('hex')}`
}

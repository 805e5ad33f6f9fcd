import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { ReceivedWebhook } from './inbox-writer.ts'
import { isJson } from './json.ts'
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
    headers: { ...storedHeaders(headers, signing(), secrets()), 'verified-by': signing().scheme },
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

/** Headers about transport, not about the webhook. */
const passedOver =
  /^(?:host|connection|content-length|transfer-encoding|accept(?:-.*)?|te|trailer|upgrade|via|pragma|cache-control|sec-.*|forwarded|x-forwarded-.*|x-real-ip|cf-.*|traceparent|tracestate)$/

/** Headers that hold credentials, by name. A signature is not a credential: it is valid for its own body only. */
const credential = /authorization|cookie|token|secret|api-?key|password/
const signature = /signature/

/** A shorter secret occurs in unrelated values. */
const secretLengthMin = 8

/**
 * Selects the headers stored with the body. A credential, or any value that contains one of our secrets, is stored as a
 * hash: a holder of the value can recognise it, and it cannot be read back. Headers that the scheme needs are always
 * stored, since the delivery is verified again once a secret is corrected.
 */
export function storedHeaders(
  headers: IncomingHttpHeaders,
  signing: SchemeSettings,
  secrets: readonly Secret[],
): Record<string, string> {
  const read = headersRead(signing)
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    const isRead = read.includes(name)
    if (value === undefined || (passedOver.test(name) && !isRead)) continue
    const text = typeof value === 'string' ? value : value.join(', ')
    const isCredential = isRead
      ? signing.scheme === 'shared-secret'
      : credential.test(name) && !signature.test(name)
    kept[name] = isCredential || holdsSecret(text, secrets) ? hashOf(text) : text
  }
  return kept
}

function holdsSecret(value: string, secrets: readonly Secret[]): boolean {
  return secrets.some(({ text }) => text.length >= secretLengthMin && value.includes(text))
}

function hashOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

/** Names of the headers that the scheme reads. */
function headersRead(signing: SchemeSettings): string[] {
  if ('headers' in signing)
    return ['id', 'timestamp', 'signature'].map((name) => `${signing.headers}-${name}`)
  if (!('header' in signing)) return []
  const signed = 'template' in signing ? [signing.id?.header, signing.timestamp?.header] : []
  return [signing.header, ...signed].filter((name) => name !== undefined)
}

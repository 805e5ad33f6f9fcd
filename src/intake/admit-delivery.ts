import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { idAmongServices, type ServiceName } from '../core/evidence.ts'
import type { ReceivedWebhook } from './inbox-writer.ts'
import { isJson } from './json.ts'
import { asHmac } from './signature/hmac.ts'
import type { Refusal, SchemeSettings, Secret, SignatureScheme, WebhookDelivery } from './signature/scheme.ts'
import { headerText, requestLineOf, signsRequestLine } from './signature/signed-scheme.ts'

export type Admission =
  | { kind: 'admitted'; row: ReceivedWebhook }
  | { kind: 'refused'; reason: Refusal }
  | { kind: 'not_json' }

export type AdmissionDeps = {
  service: ServiceName
  verify: SignatureScheme
  signing: SchemeSettings
  /** A header that contains one is stored as a hash. */
  secrets: readonly Secret[]
  readEventId: EventIdReader
}

export function admitDelivery(admitting: AdmissionDeps, delivery: WebhookDelivery): Admission {
  const { service, verify, signing, secrets, readEventId } = admitting
  const verdict = verify(delivery)
  if (verdict.kind === 'refused') return verdict
  const { body, headers, receivedAt } = delivery
  if (!isJson(body)) return { kind: 'not_json' }
  const kept = storedHeaders(headers, signing, secrets)
  const row: ReceivedWebhook = {
    source: 'webhook',
    service,
    sourceKey: idAmongServices(service, verdict.id ?? eventKey(body, readEventId)),
    body,
    // Ours come last and override a header of the same name.
    headers: {
      ...kept,
      ...(verdict.line && withoutSecrets(verdict.line, secrets)),
      'verified-by': signing.scheme,
    },
    receivedAt,
  }
  return { kind: 'admitted', row }
}

type EventIdReader = (body: Buffer) => string | null

// The store appends a space to the id if one event arrived with several bodies. Longer keys do not fit an index.
const idForm = /^[\x21-\x7e]{1,256}$/

/**
 * For a scheme that signs no separate id. Without a usable id in the body, its hash still recognises an identical
 * resend.
 */
export function eventKey(body: Buffer, readId: EventIdReader): string {
  const id = readId(body)
  return id !== null && idForm.test(id) ? id : `sha256:${createHash('sha256').update(body).digest('hex')}`
}

const passedOver =
  /^(?::.*|host|connection|content-length|transfer-encoding|accept(?:-.*)?|te|trailer|upgrade|via|pragma|cache-control|sec-.*|forwarded|x-forwarded-.*|x-real-ip|cf-.*|traceparent|tracestate)$/

/** By name. A signature is not a credential: it is valid for its own body only. */
const credential = /authorization|cookie|token|secret|api-?key|password/
const signature = /signature/

/** A shorter secret occurs in unrelated values. */
const secretLengthMin = 8

/**
 * A credential, or a value that contains one of our secrets, is stored as a hash. Headers that the scheme needs are
 * always stored, since the delivery is verified again once a secret is corrected.
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

/** Also with what a scheme might sign that is not known yet: the request line, and the host of the public URL. */
export function quarantinedHeaders(
  delivery: WebhookDelivery,
  signing: SchemeSettings,
  secrets: readonly Secret[],
): Record<string, string> {
  const { headers } = delivery
  const line = requestLineOf(delivery)
  const isSigned = signsRequestLine(templateOf(signing))
  const query = line[':path'].replace(/^[^?]*/, '')
  const path = credential.test(query) && !isSigned ? hashOf(line[':path']) : line[':path']
  const hosts = hostHeaders.map((name) => [name, headerText(delivery, name)] as const)
  const given = Object.fromEntries(hosts.filter(([, host]) => host !== ''))
  const added = withoutSecrets({ ...line, ':path': path, ...given }, secrets)
  return { ...storedHeaders(headers, signing, secrets), ...added }
}

const hostHeaders = ['host', 'x-forwarded-host']

function templateOf(signing: SchemeSettings): string {
  const { scheme } = signing
  if (scheme === 'none' || scheme === 'capture' || scheme === 'shared-secret') return ''
  return scheme === 'public-key' ? signing.template : asHmac(signing).template
}

function withoutSecrets(
  values: Readonly<Record<string, string>>,
  secrets: readonly Secret[],
): Record<string, string> {
  const entries = Object.entries(values)
  return Object.fromEntries(
    entries.map(([name, text]) => [name, holdsSecret(text, secrets) ? hashOf(text) : text]),
  )
}

function holdsSecret(value: string, secrets: readonly Secret[]): boolean {
  return secrets.some(({ text }) => text.length >= secretLengthMin && value.includes(text))
}

function hashOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`
}

function headersRead(signing: SchemeSettings): string[] {
  if ('headers' in signing)
    return ['id', 'timestamp', 'signature'].map((name) => `${signing.headers}-${name}`)
  if (signing.scheme === 'none' || signing.scheme === 'capture') return []
  const read = 'header' in signing ? signing : asHmac(signing)
  const signed = 'template' in read ? [read.id?.header, read.timestamp?.header] : []
  return [read.header, ...signed].filter((name) => name !== undefined)
}

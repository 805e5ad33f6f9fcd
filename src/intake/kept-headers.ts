import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { SchemeSettings, Secret } from './signature/scheme.ts'

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
export function keptHeaders(
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

import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { SchemeSettings, Secret } from './signature/scheme.ts'

/** What tells of the way and not of the webhook. */
const passedOver =
  /^(?:host|connection|content-length|transfer-encoding|accept(?:-.*)?|te|trailer|upgrade|via|pragma|cache-control|sec-.*|forwarded|x-forwarded-.*|x-real-ip|cf-.*|traceparent|tracestate)$/

/** Headers whose values are credentials, by their names. A signature is none: it is good for its own body alone. */
const credential = /authorization|cookie|token|secret|api-?key|password/
const signature = /signature/

/** A shorter secret stands in values that have nothing to do with it. */
const secretLengthMin = 8

/**
 * The headers of a webhook as they are kept beside its body. Of a credential only the hash is kept, and so it is of a
 * value that holds a secret of ours, whatever its name: who has it recognises it, and nobody can read it. What the
 * scheme verifies by is kept in any case, for it is verified anew once a secret is corrected.
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

/** Names of the headers that the scheme looks at. */
function headersRead(signing: SchemeSettings): string[] {
  if ('headers' in signing)
    return ['id', 'timestamp', 'signature'].map((name) => `${signing.headers}-${name}`)
  if (!('header' in signing)) return []
  const signed = 'template' in signing ? [signing.id?.header, signing.timestamp?.header] : []
  return [signing.header, ...signed].filter((name) => name !== undefined)
}

import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { SchemeSettings } from './signature/scheme.ts'

/** What tells of the way and not of the webhook. */
const passedOver =
  /^(?:host|connection|content-length|transfer-encoding|accept(?:-.*)?|te|trailer|upgrade|via|pragma|cache-control|sec-.*|forwarded|x-forwarded-.*|x-real-ip|cf-.*|traceparent|tracestate)$/

/** Headers whose values are credentials, by their names. A signature is none: it is good for its own body alone. */
const credential = /authorization|cookie|token|secret|api-?key|password/
const signature = /signature/

/**
 * The headers of a webhook as they are kept beside its body. Of a credential only the hash is kept: who has it
 * recognises it, and nobody can read it.
 */
export function keptHeaders(headers: IncomingHttpHeaders, signing: SchemeSettings): Record<string, string> {
  const secretHeader = signing.scheme === 'shared-secret' ? signing.header : null
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || passedOver.test(name)) continue
    const text = typeof value === 'string' ? value : value.join(', ')
    const isSecret = name === secretHeader || (credential.test(name) && !signature.test(name))
    kept[name] = isSecret ? `sha256:${createHash('sha256').update(text).digest('hex')}` : text
  }
  return kept
}

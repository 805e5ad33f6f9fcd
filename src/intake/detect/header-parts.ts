import type { SignedSettings, TimestampSettings, WebhookDelivery } from '../signature/scheme.ts'

/** A value of a header, or one of the fields of a header like `t=…,v1=…`. */
export type HeaderPart = { header: string; field: string | undefined; text: string }

/** What a part would be as a signature: where it begins, how it is written, and how long it is. */
export type WrittenSignature = Pick<SignedSettings, 'prefix' | 'encoding'> & { bytes: number }

export function partsOf({ headers }: WebhookDelivery): HeaderPart[] {
  return Object.entries(headers).flatMap(([header, text]) => {
    if (typeof text !== 'string' || text.length > 2000) return []
    return [{ header, field: undefined, text }, ...fieldsOf(header, text)]
  })
}

/** Of a list with two fields or more; one `sha256=…` alone is a signature with a prefix. */
function fieldsOf(header: string, text: string): HeaderPart[] {
  const pairs = text.split(/[,;]/).map((pair) => /^\s*([\w.-]{1,40})=(.+)$/.exec(pair))
  if (pairs.length < 2 || pairs.includes(null)) return []
  return pairs.flatMap((pair) => (pair === null ? [] : [{ header, field: pair[1], text: pair[2] ?? '' }]))
}

const encodings = [
  ['hex', /^(?:[0-9a-f]{2})+$/i],
  ['base64', /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/],
  ['base64url', /^[A-Za-z0-9_-]+={0,2}$/],
] as const

const shortestSignature = 20

/** Every reading of a text as a signature: with and without a prefix such as `sha256=`, in every encoding that fits. */
export function signaturesIn(text: string): WrittenSignature[] {
  const prefixes = ['', /^[A-Za-z][\w.-]{0,30}(?:[=:,]\s?|\s)/.exec(text)?.[0] ?? '']
  return [...new Set(prefixes)].flatMap((prefix) => {
    const rest = text.slice(prefix.length)
    return encodings
      .filter(([, form]) => form.test(rest))
      .map(([encoding]) => ({ prefix, encoding, bytes: Buffer.from(rest, encoding).length }))
      .filter(({ bytes }) => bytes >= shortestSignature)
  })
}

export function timestampsIn(parts: readonly HeaderPart[]): TimestampSettings[] {
  return parts.flatMap(({ header, field, text }) => {
    const unit = timeUnit(text)
    return unit === null ? [] : [{ header, ...(field !== undefined && { field }), unit }]
  })
}

function timeUnit(text: string): TimestampSettings['unit'] | null {
  if (/^[1-9]\d{9}$/.test(text)) return 's'
  if (/^[1-9]\d{12}$/.test(text)) return 'ms'
  return /^\d{4}-\d{2}-\d{2}T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})$/i.test(text) ? 'iso' : null
}

/** What every request has; none of it is an id of the event. */
const ordinary =
  /^(?:accept|accept-.*|connection|content-.*|date|host|keep-alive|transfer-encoding|user-agent|via|forwarded|x-forwarded-.*|x-real-ip|te|expect|cache-control|pragma)$/

export function isOrdinary(header: string): boolean {
  return ordinary.test(header)
}

const idForm = /^[\x21-\x7e]{1,256}$/

/** Headers that may hold the sender's id of the event, those first that are called so. */
export function idHeadersIn(parts: readonly HeaderPart[]): string[] {
  const headers = parts
    .filter(
      ({ header, field, text }) =>
        field === undefined && !isOrdinary(header) && idForm.test(text) && timeUnit(text) === null,
    )
    .map(({ header }) => header)
  return [
    ...headers.filter((header) => calledId.test(header)),
    ...headers.filter((header) => !calledId.test(header)),
  ]
}

const calledId = /(?:^|[-_])(?:id|uuid|event|delivery|message)(?:[-_]|$)/

import type {
  HmacSettings,
  PublicKeySettings,
  SchemeSettings,
  SharedSecretSettings,
  SignedSettings,
  TimestampSettings,
  WebhookDelivery,
} from '../signature/scheme.ts'

/** The age of a capture is irrelevant to its signature; the tolerance of the daemon is determined last. */
export const anyAge = Number.MAX_SAFE_INTEGER

/** Well-known schemes first. */
export function* candidates(
  delivery: WebhookDelivery,
  secrets: readonly string[],
): Generator<SchemeSettings> {
  const parts = partsOf(delivery)
  yield* presets(parts)
  yield* sharedSecrets(parts, secrets)
  for (const written of signedForms(parts)) yield* withKeys(written)
}

function* presets(parts: readonly HeaderPart[]): Generator<SchemeSettings> {
  for (const { header, field, text } of parts) {
    const [, headers] = /^(.+)-signature$/.exec(header) ?? []
    if (field !== undefined) continue
    if (headers !== undefined && parts.some((part) => part.header === `${headers}-id`)) {
      const scheme = headers === 'svix' ? 'svix' : 'standard-webhooks'
      yield { scheme, headers, tolerance: anyAge }
    }
    if (/(?:^|,)t=\d+,.*v1=/.test(text)) yield { scheme: 'stripe', header, tolerance: anyAge }
    if (/^sha256=[0-9a-f]{64}$/.test(text)) yield { scheme: 'github', header }
  }
}

function* sharedSecrets(
  parts: readonly HeaderPart[],
  secrets: readonly string[],
): Generator<SharedSecretSettings> {
  for (const { header, field, text } of parts) {
    const secret = secrets.find((one) => text.endsWith(one))
    if (field === undefined && secret !== undefined && !isOrdinary(header))
      yield { scheme: 'shared-secret', header, prefix: text.slice(0, -secret.length) }
  }
}

type SignatureCandidate = { settings: SignedSettings; bytes: number }

function* signedForms(parts: readonly HeaderPart[]): Generator<SignatureCandidate> {
  for (const part of parts) {
    for (const { bytes, ...written } of signaturesIn(part.text)) {
      const place = {
        header: part.header,
        ...(part.field !== undefined && { field: part.field }),
        ...written,
      }
      const signed = contents(parts, versionOf(part, written)).filter(({ id }) => id?.header !== part.header)
      for (const content of signed) yield { settings: { ...place, ...content, tolerance: anyAge }, bytes }
    }
  }
}

/** One with a hundred was crafted to keep the search busy. */
const timestampsMax = 4
const idsMax = 12

type SignedContent = Pick<SignedSettings, 'template' | 'id' | 'timestamp'>

function contents(parts: readonly HeaderPart[], version: string | null): SignedContent[] {
  const timestamps = timestampsIn(parts)
    .slice(0, timestampsMax)
    .map((timestamp) => ({ timestamp }))
  const ids = idHeadersIn(parts)
    .slice(0, idsMax)
    .map((header) => ({ id: { header } }))
  return templates(version).flatMap(({ text, signsId, signsTimestamp }) =>
    (signsTimestamp ? timestamps : [{}]).flatMap((timestamp) =>
      (signsId ? ids : [{}]).map((id) => ({ template: text, ...id, ...timestamp })),
    ),
  )
}

/** `v0=…` or a field `v1` names the version with which the signed text may begin. */
function versionOf({ field }: HeaderPart, { prefix }: Pick<SignedSettings, 'prefix'>): string | null {
  return /^v\d+/.exec(field ?? prefix)?.[0] ?? null
}

const hashes: Readonly<Record<number, HmacSettings['algorithm']>> = {
  20: 'sha1',
  32: 'sha256',
  48: 'sha384',
  64: 'sha512',
}
const keyForms: readonly HmacSettings['key'][] = ['utf8', 'whsec', 'base64', 'hex']

function* withKeys({ settings, bytes }: SignatureCandidate): Generator<SchemeSettings> {
  const algorithm = hashes[bytes]
  if (algorithm !== undefined)
    for (const key of keyForms) yield { scheme: 'hmac', ...settings, algorithm, key }
  for (const [form, fits] of publicKeyForms)
    if (fits(bytes)) yield { scheme: 'public-key', ...settings, ...form, publicKeys: '' }
}

type PublicKeyForm = Pick<PublicKeySettings, 'algorithm' | 'signatureForm'>

/** By the length of the signature; that of a DER sequence varies by a few bytes. */
const publicKeyForms: readonly (readonly [PublicKeyForm, (bytes: number) => boolean])[] = [
  [{ algorithm: 'ed25519', signatureForm: 'der' }, (bytes) => bytes === 64],
  [{ algorithm: 'rsa-sha256', signatureForm: 'der' }, (bytes) => bytes >= 128],
  [{ algorithm: 'rsa-sha512', signatureForm: 'der' }, (bytes) => bytes >= 128],
  [{ algorithm: 'rsa-pss-sha256', signatureForm: 'der' }, (bytes) => bytes >= 128],
  [{ algorithm: 'ecdsa-sha256', signatureForm: 'p1363' }, (bytes) => bytes === 64],
  [{ algorithm: 'ecdsa-sha256', signatureForm: 'der' }, (bytes) => bytes > 64 && bytes <= 72],
  [{ algorithm: 'ecdsa-sha384', signatureForm: 'p1363' }, (bytes) => bytes === 96],
  [{ algorithm: 'ecdsa-sha384', signatureForm: 'der' }, (bytes) => bytes > 96 && bytes <= 104],
]

type TemplateField = 'id' | 'timestamp' | 'body'

/** Simplest first. */
const orders: readonly (readonly TemplateField[])[] = [
  ['body'],
  ['timestamp', 'body'],
  ['body', 'timestamp'],
  ['id', 'timestamp', 'body'],
  ['timestamp', 'id', 'body'],
  ['id', 'body'],
  ['body', 'id'],
  ['id', 'body', 'timestamp'],
  ['timestamp', 'body', 'id'],
  ['body', 'id', 'timestamp'],
  ['body', 'timestamp', 'id'],
]

const separators = ['.', '', ':', '|', '-', '_', ',', ';', '/', '&', '\n', ' ', '+']

type Template = { text: string; signsId: boolean; signsTimestamp: boolean }

/** @param version as `v0` in `v0:{timestamp}:{body}` */
function templates(version: string | null): Template[] {
  return orders.flatMap((order) => {
    const signs = { signsId: order.includes('id'), signsTimestamp: order.includes('timestamp') }
    const places = order.map((place) => `{${place}}`)
    const plain = order.length === 1 ? ['{body}'] : separators.map((separator) => places.join(separator))
    const versioned =
      version === null ? [] : separators.map((separator) => [version, ...places].join(separator))
    return [...plain, ...versioned].map((text) => ({ text, ...signs }))
  })
}

type HeaderPart = { header: string; field: string | undefined; text: string }

type WrittenSignature = Pick<SignedSettings, 'prefix' | 'encoding'> & { bytes: number }

function partsOf({ headers }: WebhookDelivery): HeaderPart[] {
  return Object.entries(headers).flatMap(([header, text]) => {
    if (typeof text !== 'string' || text.length > 2000) return []
    return [{ header, field: undefined, text }, ...fieldsOf(header, text)]
  })
}

/** At least two: a single `sha256=…` is a signature with a prefix. */
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

/** With and without a prefix such as `sha256=`, in every encoding that fits. */
function signaturesIn(text: string): WrittenSignature[] {
  const prefixes = ['', /^[A-Za-z][\w.-]{0,30}(?:[=:,]\s?|\s)/.exec(text)?.[0] ?? '']
  return [...new Set(prefixes)].flatMap((prefix) => {
    const rest = text.slice(prefix.length)
    return encodings
      .filter(([, form]) => form.test(rest))
      .map(([encoding]) => ({ prefix, encoding, bytes: Buffer.from(rest, encoding).length }))
      .filter(({ bytes }) => bytes >= shortestSignature)
  })
}

function timestampsIn(parts: readonly HeaderPart[]): TimestampSettings[] {
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

/** None of these is an event id. */
const ordinary =
  /^(?:accept|accept-.*|connection|content-.*|date|host|keep-alive|transfer-encoding|user-agent|via|forwarded|x-forwarded-.*|x-real-ip|te|expect|cache-control|pragma)$/

function isOrdinary(header: string): boolean {
  return ordinary.test(header)
}

const idForm = /^[\x21-\x7e]{1,256}$/

function idHeadersIn(parts: readonly HeaderPart[]): string[] {
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

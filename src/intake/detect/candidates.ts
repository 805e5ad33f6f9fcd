import { asHmac } from '../signature/hmac.ts'
import type {
  HmacSettings,
  PublicKeySettings,
  SchemeSettings,
  SharedSecretSettings,
  SignedSettings,
  TimestampSettings,
  WebhookDelivery,
} from '../signature/scheme.ts'
import { headerText, requestLineOf } from '../signature/signed-scheme.ts'
import { type Template, templates, templatesWith } from './templates.ts'

/** The age of a capture is irrelevant to its signature; the tolerance of the daemon is determined last. */
export const anyAge = Number.MAX_SAFE_INTEGER

/** `publicUrl` is null if it is not known. */
export type DetectionFacts = { secrets: readonly string[]; publicUrl: string | null }

/** Well-known schemes first. */
export function* candidates(
  delivery: WebhookDelivery,
  { secrets, publicUrl }: DetectionFacts,
): Generator<SchemeSettings> {
  const parts = partsOf(delivery)
  yield* presets(parts)
  for (const one of publicUrls(delivery, publicUrl)) yield* urlPresets(parts, one)
  yield* sharedSecrets(parts, secrets)
  for (const written of signedForms(parts, [{ templatesOf: templates }])) yield* withKeys(written)
}

/** Those that sign URL or path, by templates. */
export function* requestCandidates(
  delivery: WebhookDelivery,
  { publicUrl }: DetectionFacts,
): Generator<SchemeSettings> {
  if (requestLineOf(delivery)[':path'] === '') return
  const urls = publicUrls(delivery, publicUrl).map((one) => ({
    templatesOf: templatesWith('url'),
    publicUrl: one,
  }))
  const groups = [...urls, { templatesOf: templatesWith('path') }]
  for (const written of signedForms(partsOf(delivery), groups)) yield* withKeys(written)
}

/** Unless a proxy changes the host, it is that of the URL that the sender calls. */
function publicUrls(delivery: WebhookDelivery, known: string | null): string[] {
  if (known !== null) return [known]
  const hosts = ['x-forwarded-host', 'host'].map((name) => headerText(delivery, name))
  const named = [...new Set(hosts)].filter((host) => /^[\w.:[\]-]{1,255}$/.test(host))
  return named.map((host) => `https://${host}`)
}

const urlSigned = {
  square: asHmac({ scheme: 'square' }).header,
  hubspot: asHmac({ scheme: 'hubspot', tolerance: anyAge }).header,
}

/** The header by which a well-known sender that signs the URL is recognised; null if there is none. */
export function urlSignedHeader({ headers }: WebhookDelivery): string | null {
  return Object.values(urlSigned).find((header) => header in headers) ?? null
}

function* urlPresets(parts: readonly HeaderPart[], publicUrl: string): Generator<SchemeSettings> {
  const isThere = (header: string) => parts.some((part) => part.header === header)
  if (isThere(urlSigned.square)) yield { scheme: 'square', publicUrl }
  if (isThere(urlSigned.hubspot)) yield { scheme: 'hubspot', publicUrl, tolerance: anyAge }
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

type TemplateGroup = { templatesOf: (version: string | null) => Template[]; publicUrl?: string }

function* signedForms(
  parts: readonly HeaderPart[],
  groups: readonly TemplateGroup[],
): Generator<SignatureCandidate> {
  for (const part of parts) {
    for (const { bytes, ...written } of signaturesIn(part.text)) {
      const place = {
        header: part.header,
        ...(part.field !== undefined && { field: part.field }),
        ...written,
      }
      const version = versionOf(part, written)
      const signed = groups
        .flatMap((group) => contents(parts, version, group))
        .filter(({ id }) => id?.header !== part.header)
      for (const content of signed) yield { settings: { ...place, ...content, tolerance: anyAge }, bytes }
    }
  }
}

/** One with a hundred was crafted to keep the search busy. */
const timestampsMax = 4
const idsMax = 12

type SignedContent = Pick<SignedSettings, 'template' | 'id' | 'timestamp' | 'publicUrl'>

function contents(
  parts: readonly HeaderPart[],
  version: string | null,
  { templatesOf, ...publicUrl }: TemplateGroup,
): SignedContent[] {
  const timestamps = timestampsIn(parts)
    .slice(0, timestampsMax)
    .map((timestamp) => ({ timestamp }))
  const ids = idHeadersIn(parts)
    .slice(0, idsMax)
    .map((header) => ({ id: { header } }))
  return templatesOf(version).flatMap(({ text, signsId, signsTimestamp }) =>
    (signsTimestamp ? timestamps : [{}]).flatMap((timestamp) =>
      (signsId ? ids : [{}]).map((id) => ({ template: text, ...id, ...timestamp, ...publicUrl })),
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

type HeaderPart = { header: string; field: string | undefined; text: string }

type WrittenSignature = Pick<SignedSettings, 'prefix' | 'encoding'> & { bytes: number }

function partsOf({ headers }: WebhookDelivery): HeaderPart[] {
  return Object.entries(headers).flatMap(([header, text]) => {
    // `:method` and `:path` are no headers.
    if (typeof text !== 'string' || text.length > 2000 || header.startsWith(':')) return []
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

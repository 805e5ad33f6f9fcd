import type {
  HmacSettings,
  PublicKeySettings,
  SchemeSettings,
  SharedSecretSettings,
  SignedSettings,
  WebhookDelivery,
} from '../signature/scheme.ts'
import {
  type HeaderPart,
  idHeadersIn,
  isOrdinary,
  partsOf,
  signaturesIn,
  timestampsIn,
} from './header-parts.ts'
import { templates } from './templates.ts'

/**
 * The age of a capture says nothing of its signature: every candidate takes it in, however old. What the receiving
 * daemon needs is looked at once the rest is known.
 */
export const anyAge = Number.MAX_SAFE_INTEGER

/** Every setting under which this delivery might verify, the best known scheme first. */
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

/** Requests have a few of each; one with a hundred was made to be searched for ever. */
const timestampsMax = 4
const idsMax = 12

type SignedContent = Pick<SignedSettings, 'template' | 'id' | 'timestamp'>

/** Everything that may have been signed. */
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

/** `v0=…` and a field `v1` name the version that the signed text may begin with. */
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
    if (fits(bytes)) yield { scheme: 'public-key', ...settings, ...form }
}

type PublicKeyForm = Pick<PublicKeySettings, 'algorithm' | 'signatureForm'>

/** By the length of the signature, where the key decides the rest. A DER sequence is a few bytes longer or shorter. */
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

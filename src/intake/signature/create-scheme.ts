import {
  constants,
  createHash,
  createPublicKey,
  createSecretKey,
  type JsonWebKey,
  type KeyObject,
  timingSafeEqual,
  verify,
} from 'node:crypto'
import { z } from 'zod'
import { Fault } from '../../core/errors.ts'
import { createHmacScheme, github, hmacsOf, judgeHmacs, stripe } from './hmac.ts'
import { bytesOf, keysAt, parseSecrets } from './keys.ts'
import type {
  Keys,
  PublicKeySettings,
  SchemeSettings,
  Secret,
  SharedSecretSettings,
  SignatureScheme,
  StandardWebhooksSettings,
} from './scheme.ts'
import {
  createSignedScheme,
  headerText,
  refused,
  type SignedDelivery,
  signatureFinder,
} from './signed-scheme.ts'

/**
 * Precomputes everything possible.
 * @throws Fault `settings_bad` that names every unsuitable secret or key by its position, never by its text
 */
export function createScheme(settings: SchemeSettings, { secrets, publicKeys }: Keys): SignatureScheme {
  if (settings.scheme === 'none') return () => ({ kind: 'verified', id: null })
  if (settings.scheme === 'shared-secret') return createSharedSecret(settings, secrets)
  if (settings.scheme === 'public-key') return createPublicKeyScheme(settings, publicKeys ?? '')
  if (settings.scheme === 'stripe') return createHmacScheme(stripe(settings), secrets)
  if (settings.scheme === 'github') return createHmacScheme(github(settings), secrets)
  if (settings.scheme === 'hmac') return createHmacScheme(settings, secrets)
  return createStandardWebhooks(settings, secrets)
}

/** As for a bearer token: authenticates the sender, not the content. */
function createSharedSecret(
  { header, prefix }: SharedSecretSettings,
  secrets: readonly Secret[],
): SignatureScheme {
  const keys = parseSecrets(secrets, {
    parse: (text) => (ascii.test(text) ? digest(prefix + text) : null),
    form: 'text in ASCII, as headers are',
  })
  return (delivery) => {
    const text = headerText(delivery, header)
    if (text === '') return refused('signature_missing')
    const found = digest(text)
    const matches = keysAt(keys, delivery.receivedAt).some((key) => timingSafeEqual(key, found))
    return matches ? { kind: 'verified', id: null } : refused('signature_wrong')
  }
}

/** Senders encode other characters differently. */
const ascii = /^[\x20-\x7e]+$/

/** Of a fixed length, so that comparing reveals nothing about the secret. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/**
 * Over `id.timestamp.body`: HMAC-SHA256 (`v1`) with `whsec_` secrets, ed25519 (`v1a`) with `whpk_` public keys. Svix
 * differs only in the header names. Source: github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md.
 * @throws Fault `settings_bad` that names each secret by its position, never by its text
 */
export function createStandardWebhooks(
  { headers, tolerance }: StandardWebhooksSettings,
  secrets: readonly Secret[],
): SignatureScheme {
  const keys = parseSecrets(secrets, { parse: parseKey, form: keyForm })
  const settings = {
    header: `${headers}-signature`,
    template: '{id}.{timestamp}.{body}',
    id: { header: `${headers}-id` },
    timestamp: { header: `${headers}-timestamp`, unit: 's' as const },
    tolerance,
  }
  return createSignedScheme(settings, (signed) => judge(signed, keysAt(keys, signed.receivedAt)))
}

const findHmacs = signatureFinder({ prefix: 'v1,' })
const findEd25519 = signatureFinder({ prefix: 'v1a,' })

/** One valid signature of either kind is enough: a sender that changes keys sends several. */
function judge(signed: SignedDelivery, keys: readonly KeyObject[]) {
  const [symmetric, asymmetric] = [keys.filter(isSecret), keys.filter((key) => !isSecret(key))]
  const byKey = asymmetric.length === 0 ? 'signature_missing' : judgeEd25519(signed, asymmetric)
  if (byKey === null || (asymmetric.length > 0 && symmetric.length === 0)) return byKey
  const hmacs = hmacsOf(symmetric, { signed, algorithm: 'sha256', encoding: 'base64' })
  const byHmac = judgeHmacs(findHmacs(signed.signatures), hmacs)
  return byHmac === 'signature_missing' ? byKey : byHmac
}

const isSecret = (key: KeyObject): boolean => key.type === 'secret'

const ed25519Bytes = 64

function judgeEd25519(signed: SignedDelivery, keys: readonly KeyObject[]) {
  const signatures = findEd25519(signed.signatures)
    .map((text) => bytesOf(text, 'base64'))
    .filter((bytes) => bytes?.length === ed25519Bytes)
    .filter((bytes) => bytes !== null)
    .slice(0, signaturesFor(keys))
  if (signatures.length === 0) return 'signature_missing'
  const message = signedBytes(signed)
  const isRight = keys.some((key) => signatures.some((signature) => verify(null, message, key, signature)))
  return isRight ? null : 'signature_wrong'
}

const secretBytesMin = 24
const publicKeyBytes = 32
const keyForm = `whsec_ and the base64 of at least ${secretBytesMin} bytes, or whpk_ and that of ${publicKeyBytes}`

function parseKey(text: string): KeyObject | null {
  const [, kind, base64 = ''] = /^(whsec|whpk)_(.+)$/.exec(text) ?? []
  const bytes = bytesOf(base64, 'base64')
  if (kind === undefined || bytes === null) return null
  if (kind === 'whsec') return bytes.length >= secretBytesMin ? createSecretKey(bytes) : null
  if (bytes.length !== publicKeyBytes) return null
  return createPublicKey({
    format: 'jwk',
    key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') },
  })
}

type PublicKeyAlgorithm = PublicKeySettings['algorithm']

function createPublicKeyScheme(settings: PublicKeySettings, text: string): SignatureScheme {
  const { algorithm, encoding, signatureForm } = settings
  const keys = fittingKeys(text, algorithm)
  const find = signatureFinder(settings)
  return createSignedScheme(settings, (signed) => {
    const signatures = find(signed.signatures).flatMap((one) => {
      const bytes = bytesOf(spelled(one, encoding), encoding)
      return bytes === null ? [] : [bytes]
    })
    if (signatures.length === 0) return 'signature_missing'
    const message = signedBytes(signed)
    const tried = signatures.slice(0, signaturesFor(keys))
    const isRight = keys.some((key) =>
      tried.some((signature) =>
        verify(
          digests[algorithm],
          message,
          { ...paddings[algorithm], key, dsaEncoding: signatureForms[signatureForm] },
          signature,
        ),
      ),
    )
    return isRight ? null : 'signature_wrong'
  })
}

const digests: Record<PublicKeyAlgorithm, string | null> = {
  ed25519: null,
  'rsa-sha256': 'sha256',
  'rsa-sha512': 'sha512',
  'rsa-pss-sha256': 'sha256',
  'ecdsa-sha256': 'sha256',
  'ecdsa-sha384': 'sha384',
}

const pkcs1 = { padding: constants.RSA_PKCS1_PADDING }
const paddings: Record<PublicKeyAlgorithm, { padding?: number }> = {
  ed25519: {},
  'rsa-sha256': pkcs1,
  'rsa-sha512': pkcs1,
  'rsa-pss-sha256': { padding: constants.RSA_PKCS1_PSS_PADDING },
  'ecdsa-sha256': {},
  'ecdsa-sha384': {},
}

const signatureForms = { der: 'der', p1363: 'ieee-p1363' } as const

/** Each verification hashes a body of up to a megabyte, even for unauthenticated senders. */
const verificationsMax = 20

function signaturesFor(keys: readonly KeyObject[]): number {
  return Math.max(1, Math.floor(verificationsMax / keys.length))
}

/** These algorithms take no content in pieces. */
function signedBytes({ head, body, tail }: SignedDelivery): Buffer {
  return Buffer.concat([Buffer.from(head), body, Buffer.from(tail)])
}

function spelled(text: string, encoding: PublicKeySettings['encoding']): string {
  if (encoding === 'hex') return text.toLowerCase()
  return encoding === 'base64url' ? text.replace(/=+$/, '') : text
}

const keysMax = 16
const rsaBitsMin = 2048

/** A published key set also contains keys for other uses, which are ignored if at least one fits. */
function fittingKeys(text: string, algorithm: PublicKeyAlgorithm): KeyObject[] {
  const keys = parsePublicKeys(text).filter((key) => fits(key, algorithm))
  const name = 'DEPOSITD_CONFIG, webhooks.publicKeys:'
  if (keys.length > keysMax) throw bad(`${name} the file holds more than ${keysMax} keys for ${algorithm}`)
  if (keys.length > 0) return keys
  const size = algorithm.startsWith('rsa') ? ` of at least ${rsaBitsMin} bits` : ''
  throw bad(`${name} the file holds no public key${size} for ${algorithm}, neither as PEM nor in a JWKS`)
}

function bad(fault: string): Fault<'settings_bad'> {
  return new Fault('settings_bad', { faults: [fault] })
}

function fits(key: KeyObject, algorithm: PublicKeyAlgorithm): boolean {
  const type = key.asymmetricKeyType
  if (algorithm === 'ed25519') return type === 'ed25519'
  if (algorithm.startsWith('ecdsa')) return type === 'ec'
  const isRsa = type === 'rsa' || (algorithm === 'rsa-pss-sha256' && isPssKey(key))
  return isRsa && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= rsaBitsMin
}

function isPssKey({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean {
  return type === 'rsa-pss' && (details?.hashAlgorithm ?? 'sha256') === 'sha256'
}

const pem = /-----BEGIN (PUBLIC KEY|RSA PUBLIC KEY|CERTIFICATE)-----[\s\S]+?-----END \1-----/g

const jwk = z.looseObject({ kty: z.string(), use: z.string().optional() })
const jwks = z.object({ keys: z.array(jwk) })

/** Ignores everything else. */
export function parsePublicKeys(text: string): KeyObject[] {
  const blocks = text.match(pem) ?? []
  const keys = blocks.length > 0 ? blocks.map(fromPem) : jwksOf(text).map(fromJwk)
  return keys.filter((key) => key !== null)
}

function jwksOf(text: string): z.output<typeof jwk>[] {
  try {
    const document: unknown = JSON.parse(text)
    const single = jwk.safeParse(document)
    const keys = single.success ? [single.data] : jwks.parse(document).keys
    // A private key does not belong in a key set for verification.
    return keys.filter(({ use, d }) => use !== 'enc' && d === undefined)
  } catch {
    return []
  }
}

function fromPem(block: string): KeyObject | null {
  return publicKey(() => createPublicKey(block))
}

function fromJwk(key: JsonWebKey): KeyObject | null {
  return publicKey(() => createPublicKey({ key, format: 'jwk' }))
}

/** Null for an unsupported kind of key. */
function publicKey(create: () => KeyObject): KeyObject | null {
  try {
    return create()
  } catch {
    return null
  }
}

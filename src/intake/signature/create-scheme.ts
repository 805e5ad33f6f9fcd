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
import { asHmac, createHmacScheme, hmacsOf, judgeHmacs, spelled } from './hmac.ts'
import { bytesOf, keysAt, parseSecrets, settingOf } from './keys.ts'
import type {
  Keys,
  PublicKeySettings,
  SchemeSettings,
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

/** @throws Fault `settings_bad` if a secret or key does not fit the scheme, or all secrets have expired */
export function openScheme(signing: SchemeSettings, keys: Keys, now: Date): SignatureScheme {
  const ends = keys.secrets.map(({ notAfter }) => notAfter)
  if (ends.length > 0 && ends.every((end) => end !== null && end <= now)) {
    throw new Fault('settings_bad', {
      faults: [`${settingOf(keys)}: every secret has ended; give one that counts`],
    })
  }
  return createScheme(signing, keys)
}

/**
 * Precomputes everything possible.
 * @throws Fault `settings_bad` that names every unsuitable secret or key by its position, never by its text
 */
export function createScheme(settings: SchemeSettings, keys: Keys): SignatureScheme {
  if (settings.scheme === 'none') return () => ({ kind: 'verified', id: null })
  if (settings.scheme === 'capture') return () => refused('scheme_unknown')
  if (settings.scheme === 'shared-secret') return createSharedSecret(settings, keys)
  if (settings.scheme === 'public-key') return createPublicKeyScheme(settings, keys.publicKeys ?? '')
  if ('headers' in settings) return createStandardWebhooks(settings, keys)
  return createHmacScheme(asHmac(settings), keys)
}

/** As for a bearer token: authenticates the sender, not the content. */
function createSharedSecret({ header, prefix }: SharedSecretSettings, given: Keys): SignatureScheme {
  const keys = parseSecrets(given, {
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
 * HMAC-SHA256 (`v1`) with `whsec_` secrets, ed25519 (`v1a`) with `whpk_` public keys. Svix differs only in the header
 * names.
 * @throws Fault `settings_bad` that names each secret by its position, never by its text
 */
export function createStandardWebhooks(settings: StandardWebhooksSettings, given: Keys): SignatureScheme {
  const keys = parseSecrets(given, { parse: parseKey, form: keyForm })
  const hmac = asHmac(settings)
  const findHmacs = signatureFinder(hmac)
  /** One valid signature of either kind is enough: a sender that changes keys sends several. */
  return createSignedScheme(hmac, (signed) => {
    const { secret = [], public: asymmetric = [] } = Object.groupBy(
      keysAt(keys, signed.receivedAt),
      ({ type }) => (type === 'secret' ? type : 'public'),
    )
    const byKey =
      asymmetric.length === 0
        ? 'signature_missing'
        : judgeByKeys(signed, findEd25519(signed.signatures), { ...ed25519, keys: asymmetric })
    if (byKey === null || (asymmetric.length > 0 && secret.length === 0)) return byKey
    const byHmac = judgeHmacs(findHmacs(signed.signatures), hmacsOf(secret, { ...hmac, signed }))
    return byHmac === 'signature_missing' ? byKey : byHmac
  })
}

const findEd25519 = signatureFinder({ prefix: 'v1a,' })
const ed25519 = { algorithm: 'ed25519', encoding: 'base64', signatureForm: 'der' } as const

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
  const keys = fittingKeys(text, settings.algorithm)
  const find = signatureFinder(settings)
  return createSignedScheme(settings, (signed) =>
    judgeByKeys(signed, find(signed.signatures), { ...settings, keys }),
  )
}

type PublicKeys = Pick<PublicKeySettings, 'algorithm' | 'encoding' | 'signatureForm'> & {
  keys: readonly KeyObject[]
}

function judgeByKeys(
  { head, body, tail }: SignedDelivery,
  texts: readonly string[],
  { keys, algorithm, encoding, signatureForm }: PublicKeys,
) {
  const signatures = texts
    .map((text) => bytesOf(spelled[encoding](text), encoding))
    .filter((bytes) => bytes !== null)
    .slice(0, Math.max(1, Math.floor(verificationsMax / keys.length)))
  if (signatures.length === 0) return 'signature_missing'
  // These algorithms take no content in pieces.
  const message = Buffer.concat([Buffer.from(head), body, Buffer.from(tail)])
  const options = { padding: paddings[algorithm], dsaEncoding: signatureForms[signatureForm] }
  const isRight = keys.some((key) =>
    signatures.some((signature) => verify(digests[algorithm], message, { ...options, key }, signature)),
  )
  return isRight ? null : 'signature_wrong'
}

/** Each verification hashes a body of up to a megabyte, even for unauthenticated senders. */
const verificationsMax = 20

const digests: Record<PublicKeyAlgorithm, string | null> = {
  ed25519: null,
  'rsa-sha256': 'sha256',
  'rsa-sha512': 'sha512',
  'rsa-pss-sha256': 'sha256',
  'ecdsa-sha256': 'sha256',
  'ecdsa-sha384': 'sha384',
}

const paddings: Partial<Record<PublicKeyAlgorithm, number>> = {
  'rsa-sha256': constants.RSA_PKCS1_PADDING,
  'rsa-sha512': constants.RSA_PKCS1_PADDING,
  'rsa-pss-sha256': constants.RSA_PKCS1_PSS_PADDING,
}

const signatureForms = { der: 'der', p1363: 'ieee-p1363' } as const

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
  const inputs = blocks.length > 0 ? blocks : jwksOf(text).map((key) => ({ key, format: 'jwk' as const }))
  return inputs.map(publicKey).filter((key) => key !== null)
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

/** Null for an unsupported kind of key. */
function publicKey(input: string | { key: JsonWebKey; format: 'jwk' }): KeyObject | null {
  try {
    return createPublicKey(input)
  } catch {
    return null
  }
}

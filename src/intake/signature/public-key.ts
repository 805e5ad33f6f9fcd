import { constants, type KeyObject, verify } from 'node:crypto'
import { Fault } from '../../core/errors.ts'
import { parsePublicKeys } from './parse-public-keys.ts'
import type { PublicKeySettings, SignatureScheme } from './scheme.ts'
import { bytesOf } from './secret-keys.ts'
import { createSignedScheme, type SignedDelivery, signatureFinder } from './signed-scheme.ts'

type PublicKeyAlgorithm = PublicKeySettings['algorithm']

/**
 * A signature that anybody can verify and only the sender can make: ed25519, RSA or ECDSA, by any of the keys.
 * @param text of a PEM file or a JWKS.
 * @throws Fault `settings_bad` where no key in it fits the algorithm.
 */
export function createPublicKeyScheme(settings: PublicKeySettings, text: string): SignatureScheme {
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

/** Each hashes a body of up to a megabyte anew, for anybody who asks; together they may not hold up the others. */
const verificationsMax = 20

/** How many signatures of one delivery are held against these keys. */
export function signaturesFor(keys: readonly KeyObject[]): number {
  return Math.max(1, Math.floor(verificationsMax / keys.length))
}

/** What was signed, in one piece: these signatures cannot be made piece by piece. */
export function signedBytes({ head, body, tail }: SignedDelivery): Buffer {
  return Buffer.concat([Buffer.from(head), body, Buffer.from(tail)])
}

function spelled(text: string, encoding: PublicKeySettings['encoding']): string {
  if (encoding === 'hex') return text.toLowerCase()
  return encoding === 'base64url' ? text.replace(/=+$/, '') : text
}

const keysMax = 16
const rsaBitsMin = 2048

/** A published set holds keys for other uses as well; those are passed over as long as one is left. */
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

/** A key for PSS may be bound to one hash, and cannot be asked for another. */
function isPssKey({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean {
  return type === 'rsa-pss' && (details?.hashAlgorithm ?? 'sha256') === 'sha256'
}

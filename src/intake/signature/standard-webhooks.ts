import { createPublicKey, createSecretKey, type KeyObject, verify } from 'node:crypto'
import { hmacsOf, judgeHmacs } from './hmac.ts'
import { signaturesFor, signedBytes } from './public-key.ts'
import type { Secret, SignatureScheme, StandardWebhooksSettings } from './scheme.ts'
import { bytesOf, keysAt, parseSecrets } from './secret-keys.ts'
import { createSignedScheme, type SignedDelivery, signatureFinder } from './signed-scheme.ts'

/**
 * Standard Webhooks over `id.timestamp.body`: HMAC-SHA256 (`v1`) by secrets that begin with `whsec_`, ed25519 (`v1a`)
 * by public keys that begin with `whpk_`. Svix differs in the names of its headers alone.
 * Source: github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md.
 * @throws Fault `settings_bad` naming each secret by its place, never by its text.
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

/** One right signature of either kind is enough: a sender in transition sends several. */
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

import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  sign as signEd25519,
} from 'node:crypto'

/** Standard Webhooks: `v1` is HMAC-SHA256, `v1a` is ed25519. */
export type SigningKeyScheme = 'v1' | 'v1a'

/** Names for people. */
export const schemesByName = { hmac: 'v1', ed25519: 'v1a' } as const satisfies Record<
  string,
  SigningKeyScheme
>

export type SignatureName = keyof typeof schemesByName

export const signatureNames = Object.keys(schemesByName) as SignatureName[]

export type SigningKey = {
  scheme: SigningKeyScheme
  /** `whpk_` and base64; null for `v1`, which needs the secret. */
  publicKey: string | null
  sign(content: string): string
}

/**
 * Parses `whsec_` and the base64 of 24 to 64 bytes, or `whsk_` and that of an ed25519 private key: its 32 bytes, alone
 * or followed by the public key. Null for anything else (Standard Webhooks 1.0.0, "Signature scheme").
 */
export function readSecret(text: string): SigningKey | null {
  const [, prefix = '', base64 = ''] = secretForm.exec(text) ?? []
  const bytes = Buffer.from(base64, 'base64')
  // Non-canonical base64 is treated as a typo.
  if (bytes.toString('base64') !== base64) return null
  if (prefix === 'whsec') return bytes.length >= 24 && bytes.length <= 64 ? hmacKey(bytes) : null
  return prefix === 'whsk' ? ed25519Key(bytes) : null
}

export function isWebhookSecret(text: string): boolean {
  return readSecret(text) !== null
}

export function makeSecret(scheme: SigningKeyScheme): string {
  return `${scheme === 'v1' ? 'whsec' : 'whsk'}_${randomBytes(32).toString('base64')}`
}

export type WebhookMessage = { id: string; timestamp: string; body: string }

/**
 * One signature per key, so receivers with either secret find theirs during a rotation. The timestamp is in seconds.
 */
export function signedHeaders(keys: readonly SigningKey[], message: WebhookMessage): Record<string, string> {
  const { id, timestamp, body } = message
  const content = `${id}.${timestamp}.${body}`
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys.map((key) => key.sign(content)).join(' '),
  }
}

const secretForm = /^(whsec|whsk)_([A-Za-z0-9+/]+={0,2})$/

function hmacKey(bytes: Buffer): SigningKey {
  return {
    scheme: 'v1',
    publicKey: null,
    sign: (content) => `v1,${createHmac('sha256', bytes).update(content).digest('base64')}`,
  }
}

function ed25519Key(bytes: Buffer): SigningKey | null {
  if (bytes.length !== 32 && bytes.length !== 64) return null
  const privateBytes = bytes.subarray(0, 32)
  const publicBytes = ed25519PublicKey(privateBytes)
  if (bytes.length === 64 && !bytes.subarray(32).equals(publicBytes)) return null
  const key = importEd25519(privateBytes)
  return {
    scheme: 'v1a',
    publicKey: `whpk_${publicBytes.toString('base64')}`,
    sign: (content) => `v1a,${signEd25519(null, Buffer.from(content), key).toString('base64')}`,
  }
}

/** 32 bytes; on Solana they are the address. */
export function ed25519PublicKey(privateKey: Uint8Array): Buffer {
  const { x } = createPublicKey(importEd25519(privateKey)).export({ format: 'jwk' })
  return Buffer.from(x ?? '', 'base64url')
}

/** The prefix of PKCS #8 ed25519 keys (RFC 8410), before the 32 bytes. */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex')

function importEd25519(privateKey: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([pkcs8Head, privateKey]), format: 'der', type: 'pkcs8' })
}

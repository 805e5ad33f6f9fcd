import { createHmac, randomBytes, sign as signEd25519 } from 'node:crypto'
import { ed25519PublicKey, importEd25519 } from '../keyring/slip10.ts'

/** Standard Webhooks: `v1` is HMAC-SHA256, `v1a` is ed25519. */
export type SigningKeyScheme = 'v1' | 'v1a'

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

import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { Fault } from '../../core/errors.ts'
import type { Delivery, Refusal, Scheme, Verdict } from './scheme.ts'

type Settings = {
  /** `whsec_` and base64, newest first: while a secret is rotated, old and new are both accepted. */
  secrets: readonly string[]
  toleranceSeconds: number
}

/**
 * Standard Webhooks, HMAC-SHA256 (`v1`) over `id.timestamp.body`. Other signatures in the header are passed over.
 * Source: github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md.
 * @throws Fault `settings_bad` naming each secret by its place, never by its text.
 */
export function createStandardWebhooks({ secrets, toleranceSeconds }: Settings): Scheme {
  const keys = parseSecrets(secrets)
  return (delivery) => verify(delivery, keys, toleranceSeconds)
}

function verify(delivery: Delivery, keys: readonly KeyObject[], toleranceSeconds: number): Verdict {
  const id = header(delivery, 'webhook-id')
  const timestamp = header(delivery, 'webhook-timestamp')
  const signatures = header(delivery, 'webhook-signature')
  if (!idForm.test(id)) return refused('id_malformed')
  if (!timestampForm.test(timestamp)) return refused('timestamp_malformed')
  const ageSeconds = Math.floor(delivery.receivedAt.getTime() / 1000) - Number(timestamp)
  if (ageSeconds > toleranceSeconds) return refused('timestamp_too_old')
  if (ageSeconds < -toleranceSeconds) return refused('timestamp_too_new')
  const candidates = hmacSignatures(signatures)
  if (candidates.length === 0) return refused('signature_missing')
  const signed = keys.some((key) => matchesAny(candidates, sign(key, `${id}.${timestamp}.`, delivery.body)))
  return signed ? { kind: 'verified', id } : refused('signature_wrong')
}

// A full stop in the id would let its tail be passed off as the timestamp of what was signed.
const idForm = /^[\x21-\x2d\x2f-\x7e]{1,256}$/
const timestampForm = /^[1-9]\d{0,11}$/

function header({ headers }: Delivery, name: string): string {
  const value = headers[name]
  return typeof value === 'string' ? value : ''
}

const refused = (reason: Refusal): Verdict => ({ kind: 'refused', reason })

const versionMark = 'v1,'
const signatureLength = 44

/** Signatures stay base64 text: compared as text, a second spelling of the same bytes is refused as well. */
function hmacSignatures(text: string): readonly Buffer[] {
  return text
    .split(' ')
    .filter((entry) => entry.startsWith(versionMark))
    .map((entry) => Buffer.from(entry.slice(versionMark.length), 'latin1'))
    .filter((signature) => signature.length === signatureLength)
}

function sign(key: KeyObject, head: string, body: Buffer): Buffer {
  return Buffer.from(createHmac('sha256', key).update(head).update(body).digest('base64'), 'latin1')
}

function matchesAny(candidates: readonly Buffer[], expected: Buffer): boolean {
  return candidates.some((candidate) => timingSafeEqual(candidate, expected))
}

function parseSecrets(secrets: readonly string[]): readonly KeyObject[] {
  if (secrets.length === 0) {
    throw new Fault('settings_bad', { faults: ['WEBHOOK_SECRETS is empty: give the secret of the webhook'] })
  }
  const keys = secrets.map(parseSecret)
  const faults = keys.flatMap((key, place) => (key === undefined ? [secretFault(place + 1)] : []))
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
  return keys.filter((key) => key !== undefined)
}

const secretForm = /^whsec_([A-Za-z0-9+/]+={0,2})$/
const secretBytesMin = 24

/** Made into a key once: with a `KeyObject` a signature costs about a sixth of what a string key costs. */
function parseSecret(text: string): KeyObject | undefined {
  const [, base64 = ''] = secretForm.exec(text) ?? []
  const bytes = Buffer.from(base64, 'base64')
  const whole = bytes.toString('base64') === base64
  return whole && bytes.length >= secretBytesMin ? createSecretKey(bytes) : undefined
}

function secretFault(place: number): string {
  return `WEBHOOK_SECRETS: secret ${place} must be whsec_ and the base64 of at least ${secretBytesMin} bytes`
}

import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto'
import { z } from 'zod'

/** A key that stays on a device of its person: https://www.w3.org/TR/webauthn-3. */
export type Passkey = {
  person: string
  /** Address of the console at which it was made, and the only one at which it signs. */
  origin: string
  /** base64url. */
  credential: string
  publicKey: KeyObject
}

const form = /^passkey (?<person>\S+) (?<origin>\S+) (?<credential>\S+) (?<key>\S+)$/

/** One line, with the public key as base64url of its DER form. */
export function writePasskey({ person, origin, credential, publicKey }: Passkey): string {
  const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64url')
  return `passkey ${person} ${origin} ${credential} ${key}`
}

/** Null unless it is exactly what `writePasskey` writes. */
export function readPasskey(text: string): Passkey | null {
  const { person, origin, credential, key } = form.exec(text)?.groups ?? {}
  try {
    const publicKey = createPublicKey({
      key: Buffer.from(`${key}`, 'base64url'),
      format: 'der',
      type: 'spki',
    })
    const passkey = {
      person: `${person}`,
      origin: new URL(`${origin}`).origin,
      credential: `${credential}`,
      publicKey,
    }
    return isSupported(publicKey) && writePasskey(passkey) === text ? passkey : null
  } catch {
    return null
  }
}

/** What devices make: P-256, or RSA on older ones; both sign a SHA-256. */
function isSupported({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject): boolean {
  return type === 'rsa' || (type === 'ec' && details?.namedCurve === 'prime256v1')
}

const bytes = z.base64url().transform((text) => Buffer.from(text, 'base64url'))
const assertionSchema = z.strictObject({
  credential: z.string(),
  authenticatorData: bytes,
  clientDataJSON: bytes,
  signature: bytes,
  /** Hashes of several texts, signed at once. */
  list: z.array(z.string()).optional(),
})
const clientSchema = z.object({
  type: z.literal('webauthn.get'),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.literal(false).optional(),
})

/** What a browser returns; all base64url. */
export type Assertion = z.input<typeof assertionSchema>

/** What a passkey signs instead of the text: base64url of its SHA-256. */
export function challengeOf(text: string): string {
  return sha256(text).toString('base64url')
}

/** Of several texts, that of the list of their hashes. */
export function challengeOfAll(texts: readonly string[]): string {
  const [only = '', ...others] = texts
  return challengeOf(others.length === 0 ? only : listText(texts.map(challengeOf)))
}

/** Never the text of a decision, which is JSON. */
function listText(challenges: readonly string[]): string {
  return `texts of depositd\n${challenges.join('\n')}\n`
}

/** What is stored with each of the texts that one confirmation signed. */
export function signatureOfAll(texts: readonly string[], assertion: string): string {
  if (texts.length === 1) return assertion
  return JSON.stringify({ ...(JSON.parse(assertion) as Assertion), list: texts.map(challengeOf) })
}

/** @param signature as `signatureOfAll` returns it */
export function isTextSigned(text: string, signature: string, passkey: Passkey): boolean {
  const challenge = challengeOf(text)
  const list = assertionSchema.safeParse(parsed(signature)).data?.list
  if (list === undefined) return isConfirmed(challenge, signature, passkey)
  return list.includes(challenge) && isConfirmed(challengeOf(listText(list)), signature, passkey)
}

/** True if a person confirmed this challenge on their device, who had to unlock it. */
export function isConfirmed(challenge: string, assertion: string, passkey: Passkey): boolean {
  const { data } = assertionSchema.safeParse(parsed(assertion))
  if (data?.credential !== passkey.credential) return false
  const { authenticatorData, clientDataJSON, signature } = data
  const client = clientSchema.safeParse(parsed(clientDataJSON.toString())).data
  if (client?.challenge !== challenge || client.origin !== passkey.origin) return false
  const signed = Buffer.concat([authenticatorData, sha256(clientDataJSON)])
  return (
    isOfPresentPerson(authenticatorData, passkey) && verify('sha256', signed, passkey.publicKey, signature)
  )
}

const [present, verified] = [0x01, 0x04]
const placeOfFlags = 32

/** Authenticator data begins with the hash of the host, and flags. */
function isOfPresentPerson(authenticatorData: Buffer, { origin }: Passkey): boolean {
  const flags = authenticatorData[placeOfFlags] ?? 0
  const host = sha256(new URL(origin).hostname)
  return (
    authenticatorData.subarray(0, placeOfFlags).equals(host) &&
    (flags & present) !== 0 &&
    (flags & verified) !== 0
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function sha256(text: string | Buffer): Buffer {
  return createHash('sha256').update(text).digest()
}

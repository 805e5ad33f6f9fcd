import { createPrivateKey, type PrivateKeyInput } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import type { EnvironmentReader } from './environment.ts'
import {
  parseTemplate,
  type ServiceAuthSection,
  type SigningSection,
  type TemplatePart,
} from './service-auth-schema.ts'

export type NamedSecret = { name: string; text: string }

/** How requests prove who sends them. Secrets are those of the environment. */
export type ServiceAuth = {
  /** The same in every request. */
  headers: Readonly<Record<string, string>>
  proof: { kind: 'fixed' } | ({ kind: 'token-file' } & TokenFile) | ({ kind: 'signature' } & SignatureProof)
  /** Includes other spellings of a secret. */
  secrets: readonly NamedSecret[]
  /** What a person corrects if the service refuses it. */
  credential: string
}

/** Another program renews the file, so it is read for each request. */
export type TokenFile = { path: string; header: string; prefix: string }

/** The key of Ed25519 is in PKCS #8, in DER. */
export type SignatureProof = Pick<SigningSection, 'encoding' | 'header' | 'value' | 'timestamp' | 'nonce'> & {
  template: readonly TemplatePart[]
  algorithm: 'sha256' | 'sha384' | 'sha512' | 'ed25519'
  key: Buffer
  apiKey: string
}

const nothing: ServiceAuth = { headers: {}, proof: { kind: 'fixed' }, secrets: [], credential: '' }

/**
 * @param value null if the file has faults; its needs are unknown then
 * @param place of the section, for faults
 */
export function readServiceAuth(
  reader: EnvironmentReader,
  value: ServiceAuthSection | null,
  place: string,
): ServiceAuth {
  if (value === null) return nothing
  const secrets: NamedSecret[] = []
  const secretOf = (name: string, at: string): string => {
    const text = readSecret(reader, name, `${place}.${at}`)
    secrets.push({ name, text })
    return text
  }
  const sentSecret = (name: string, at: string): string => {
    const text = secretOf(name, at)
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(text))
      reader.faults.push(`${name} must be one line of printable ASCII, since ${place} sends it in a header`)
    return text
  }
  const fixed = Object.entries(value.headers).map(([name, text]) => [
    name,
    typeof text === 'string' ? text : sentSecret(text.secret, `headers.${name}`),
  ])
  const own = readScheme({ reader, place, secretOf, sentSecret }, value)
  return {
    ...own,
    headers: { ...Object.fromEntries(fixed), ...own.headers },
    secrets: [...secrets, ...own.secrets].filter(({ text }) => text !== ''),
  }
}

type SecretReader = (name: string, at: string) => string
type AuthReader = {
  reader: EnvironmentReader
  place: string
  secretOf: SecretReader
  sentSecret: SecretReader
}

function readScheme(from: AuthReader, value: ServiceAuthSection): ServiceAuth {
  if (value.scheme === 'none') return { ...nothing, credential: from.place }
  if (value.scheme === 'basic') return readBasic(from, value)
  if ('template' in value) return readSigning(from, value)
  const { header, prefix } = value
  if (value.scheme === 'header') {
    const text = prefix + from.sentSecret(value.secret, 'secret')
    return { ...nothing, headers: { [header]: text }, credential: value.secret }
  }
  const path = resolve(dirname(from.reader.optional('DEPOSITD_CONFIG') ?? ''), value.path)
  return {
    ...nothing,
    proof: { kind: 'token-file', path, header, prefix },
    credential: `the token in ${path}`,
  }
}

/** RFC 7617. */
function readBasic(
  { secretOf }: AuthReader,
  { user, secret: name }: Extract<ServiceAuthSection, { scheme: 'basic' }>,
): ServiceAuth {
  const text = Buffer.from(`${user}:${secretOf(name, 'secret')}`).toString('base64')
  const secrets = [{ name, text }]
  return { ...nothing, headers: { Authorization: `Basic ${text}` }, secrets, credential: name }
}

function readSigning(from: AuthReader, value: SigningSection): ServiceAuth {
  const { secret, apiKey: own, encoding, header, value: sent, timestamp, nonce } = value
  const key = readSigningKey(from, value)
  const isUsed = own.header !== undefined || [value.template, sent].join().includes('{apiKey}')
  const apiKey = isUsed ? from.sentSecret(own.secret, 'apiKey') : ''
  const template = parseTemplate(value.template)
  const proof = { kind: 'signature', encoding, header, value: sent, timestamp, nonce, template } as const
  return {
    ...nothing,
    headers: own.header === undefined ? {} : { [own.header]: own.prefix + apiKey },
    proof: { ...proof, algorithm: value.scheme === 'hmac' ? value.algorithm : 'ed25519', key, apiKey },
    credential: isUsed ? `${own.secret} or ${secret}` : secret,
  }
}

function readSigningKey(
  { reader, place, secretOf }: AuthReader,
  { scheme, secret, secretEncoding }: SigningSection,
): Buffer {
  const text = secretOf(secret, 'secret')
  const key = Buffer.from(text, secretEncoding === 'text' ? 'utf8' : secretEncoding)
  // Decoders ignore invalid characters.
  if (secretEncoding !== 'text' && key.toString(secretEncoding) !== spelled(text, secretEncoding))
    reader.faults.push(`${secret} must be ${secretEncoding}, as ${place}.secretEncoding says`)
  else if (scheme === 'ed25519' && text !== '') {
    const own = ed25519Key(secretEncoding === 'text' ? text : key)
    if (own !== null) return own
    const form = secretEncoding === 'text' ? 'in PEM' : 'of 32 bytes, or in PKCS #8'
    reader.faults.push(`${secret} must be an Ed25519 private key ${form}`)
  }
  return key
}

/** RFC 8410: what stands before the 32 bytes of a key. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/** @param secret PEM, or the bytes of the key: alone, before its public key, or in PKCS #8 */
function ed25519Key(secret: string | Buffer): Buffer | null {
  try {
    const key = createPrivateKey(typeof secret === 'string' ? secret : derOf(secret))
    return key.asymmetricKeyType === 'ed25519' ? key.export({ format: 'der', type: 'pkcs8' }) : null
  } catch {
    return null
  }
}

function derOf(bytes: Buffer): PrivateKeyInput {
  const isBare = bytes.length === 32 || bytes.length === 64
  const key = isBare ? Buffer.concat([pkcs8Prefix, bytes.subarray(0, 32)]) : bytes
  return { key, format: 'der', type: 'pkcs8' }
}

function spelled(text: string, encoding: 'hex' | 'base64'): string {
  return encoding === 'hex' ? text.toLowerCase() : text
}

function readSecret(reader: EnvironmentReader, name: string, place: string): string {
  const isOfDefault = place.startsWith('service.')
  // A key that is sent to another service is no secret any more.
  if (!isOfDefault && ['SERVICE_API_KEY', 'SERVICE_API_SECRET'].includes(name)) {
    reader.faults.push(
      `DEPOSITD_CONFIG, ${place} is ${name}, a secret of the default service: name another one, like SERVICE_API_ACME_KEY`,
    )
    return ''
  }
  if (name === 'SERVICE_API_KEY') return reader.text(name)
  const text = reader.optional(name)
  if (text === undefined)
    reader.faults.push(
      `${name} is missing, and ${place} needs it: set it, or ${name}_FILE to a file with the secret, or SECRETS_DIR to a folder with a file ${name}`,
    )
  return text ?? ''
}

/** Call this after the section of every service was read: an operator who sets a secret expects it to be used. */
export function refuseUnusedSecrets(reader: EnvironmentReader): void {
  for (const name of reader.unasked(/^SERVICE_API_/))
    reader.faults.push(
      `${name} is unknown: no section auth of a service in DEPOSITD_CONFIG uses it; unset it, or name it there as a secret`,
    )
}

import { createHash, createHmac, createPrivateKey, randomUUID, sign } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import type { ServiceAuth, SignatureProof, TokenFile } from '../config/service-auth.ts'
import { messageOf } from '../core/errors.ts'

/** `body` is empty if none is sent. */
export type UnprovedRequest = { method: string; url: URL; body: string }

/** `secrets` must not be repeated to people. */
export type Authorization = { headers: Readonly<Record<string, string>>; secrets: readonly string[] }

/** @throws Error that says why no request can be authorized; it contains no secret */
export type Authorize = (request: UnprovedRequest) => Promise<Authorization>

/** Each attempt needs an authorization of its own: a timestamp expires, and a nonce counts once. */
export function createAuthorize(
  { headers, proof, secrets }: ServiceAuth,
  now: () => Date,
  nonceOf: NonceMakers = nonces,
): Authorize {
  const known = secrets.map(({ text }) => text)
  return async (request) => {
    if (proof.kind === 'fixed') return { headers, secrets: known }
    if (proof.kind === 'signature') {
      const { signature, headers: signed } = signRequest(proof, request, { now: now(), nonceOf })
      return { headers: { ...headers, ...signed }, secrets: [...known, signature] }
    }
    const token = await readToken(proof.path)
    return { headers: { ...headers, [proof.header]: proof.prefix + token }, secrets: [...known, token] }
  }
}

const tokenBytesMax = 16 * 1024

/** Contents are never part of the error. */
async function readToken(path: TokenFile['path']): Promise<string> {
  const token = await readBounded(path).catch((error: unknown) => {
    throw new Error(`the token file cannot be read: ${messageOf(error)}`, { cause: error })
  })
  if (token === '') throw new Error(`the token file ${path} is empty`)
  if (!/^[\x20-\x7e]+$/.test(token))
    throw new Error(`the token file ${path} must hold one line of printable ASCII`)
  return token
}

/** Opening a pipe would wait for its writer. */
async function readBounded(path: string): Promise<string> {
  const stats = await stat(path)
  if (!stats.isFile()) throw new Error(`${path} is no file`)
  if (stats.size > tokenBytesMax) throw new Error(`${path} has more than ${tokenBytesMax} bytes`)
  return (await readFile(path, 'utf8')).trim()
}

/** Replaceable in tests. */
type NonceMakers = Record<SignatureProof['nonce']['form'], (now: Date) => string>

type SignedHeaders = { signature: string; headers: Record<string, string> }

function signRequest(
  proof: SignatureProof,
  { method, url, body }: UnprovedRequest,
  { now, nonceOf }: { now: Date; nonceOf: NonceMakers },
): SignedHeaders {
  const { apiKey, encoding } = proof
  const at = new Date(now.getTime() + proof.timestamp.ahead)
  const sent = {
    apiKey,
    timestamp: timestampTexts[proof.timestamp.unit](at),
    nonce: nonceOf[proof.nonce.form](now),
  }
  const path = { path: url.pathname + url.search, pathname: url.pathname, query: url.search.slice(1) }
  const text = bytesOf(proof.template, { ...sent, ...path, method, body })
  const signature = signatureOf(proof, text).toString(encoding)
  const value = proof.value.replace(/\{(\w+)\}/g, (_, name: keyof typeof sent | 'signature') =>
    name === 'signature' ? signature : sent[name],
  )
  const parts = [
    [proof.header, value],
    [proof.timestamp.header, sent.timestamp],
    [proof.nonce.header, sent.nonce],
  ].filter(([name]) => name !== undefined)
  return { signature, headers: Object.fromEntries(parts) as Record<string, string> }
}

function signatureOf({ algorithm, key }: SignatureProof, text: Buffer): Buffer {
  return algorithm === 'ed25519'
    ? sign(null, text, createPrivateKey({ key, format: 'der', type: 'pkcs8' }))
    : createHmac(algorithm, key).update(text).digest()
}

type SigningValues = Record<Extract<SignatureProof['template'][number], { kind: 'value' }>['name'], string>

function bytesOf(template: SignatureProof['template'], values: SigningValues): Buffer {
  const parts = template.map((part) => {
    if (part.kind === 'text') return Buffer.from(part.text)
    if (part.kind === 'value') return Buffer.from(values[part.name])
    const digest = createHash(part.algorithm).update(bytesOf(part.of, values)).digest()
    return part.encoding === null ? digest : Buffer.from(digest.toString(part.encoding))
  })
  return Buffer.concat(parts)
}

const timestampTexts: Record<SignatureProof['timestamp']['unit'], (at: Date) => string> = {
  s: (at) => Math.floor(at.getTime() / 1000).toString(),
  ms: (at) => at.getTime().toString(),
  iso: (at) => at.toISOString(),
}

/** Of all calls of the process: a service refuses a nonce that is not above the last one of the key. */
let lastNonce = 0

const nonces: NonceMakers = {
  uuid: () => randomUUID(),
  /** In microseconds, which stay above those of an earlier process. */
  increasing: (now) => {
    lastNonce = Math.max(lastNonce + 1, now.getTime() * 1000)
    return lastNonce.toString()
  },
}

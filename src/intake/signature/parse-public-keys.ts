import { createPublicKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { z } from 'zod'

const pem = /-----BEGIN (PUBLIC KEY|RSA PUBLIC KEY|CERTIFICATE)-----[\s\S]+?-----END \1-----/g

const jwk = z.looseObject({ kty: z.string(), use: z.string().optional() })
const jwks = z.object({ keys: z.array(jwk) })

/** Every public key of a text of PEM blocks, or of a JWKS (RFC 7517); what is none is passed over. */
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
    // A key that could sign has no place where signatures are only verified.
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

/** A set may hold kinds of keys that this program does not know. */
function publicKey(create: () => KeyObject): KeyObject | null {
  try {
    return create()
  } catch {
    return null
  }
}

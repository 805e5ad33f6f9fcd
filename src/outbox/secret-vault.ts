import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/** A sealed secret does not open in another row. */
export type SecretRowId = { endpointId: string; version: number }

/** Signing requires the key as well as the database. */
export type SecretVault = {
  seal(secret: string, place: SecretRowId): Buffer
  /** Throws if the bytes were changed, or sealed for another row or by another key. */
  open(sealed: Uint8Array, place: SecretRowId): string
}

const algorithm = 'aes-256-gcm'
const nonceLength = 12
const tagLength = 16

/**
 * AES-256-GCM with a key by HKDF-SHA256 under the info string `purpose`, which reveals nothing about the key material or what else
 * is derived from it. Sealed bytes: nonce, ciphertext, tag.
 */
export function openSecretVault(material: Uint8Array, purpose: string): SecretVault {
  const key = new Uint8Array(hkdfSync('sha256', material, '', purpose, 32))
  return {
    seal: (secret, place) => {
      const nonce = randomBytes(nonceLength)
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(rowBytes(place))
      return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    open: (sealed, place) => {
      const [nonce, tag] = [sealed.subarray(0, nonceLength), sealed.subarray(-tagLength)]
      const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagLength })
      decipher.setAAD(rowBytes(place)).setAuthTag(tag)
      const opened = decipher.update(sealed.subarray(nonceLength, -tagLength))
      return Buffer.concat([opened, decipher.final()]).toString()
    },
  }
}

function rowBytes({ endpointId, version }: SecretRowId): Buffer {
  return Buffer.from(`${endpointId}/${version}`)
}

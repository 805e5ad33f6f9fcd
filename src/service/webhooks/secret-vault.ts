import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { seedBytes } from '../keyring/seed.ts'

/** The row of a secret. A sealed secret is bound to it and does not open in another row. */
export type SecretPlace = { endpointId: string; version: number }

/** Encrypts secrets in the database. Signing requires the seed as well as the database. */
export type SecretVault = {
  seal(secret: string, place: SecretPlace): Buffer
  /** Throws if the bytes were changed, or were sealed for another row or with another seed. */
  open(sealed: Uint8Array, place: SecretPlace): string
}

const algorithm = 'aes-256-gcm'
const nonceLength = 12
const tagLength = 16

/**
 * AES-256-GCM with a key derived from the seed by HKDF-SHA256 under its own info string, so that it reveals nothing
 * about the wallet keys. The sealed bytes are the nonce, the ciphertext and the tag, in this order.
 * @throws Fault `settings_bad` if the seed is invalid
 */
export function openVault(seed: string): SecretVault {
  const key = new Uint8Array(hkdfSync('sha256', seedBytes(seed), '', 'depositd service webhook secrets', 32))
  return {
    seal: (secret, place) => {
      const nonce = randomBytes(nonceLength)
      const cipher = createCipheriv(algorithm, key, nonce).setAAD(placeBytes(place))
      return Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    open: (sealed, place) => {
      const [nonce, tag] = [sealed.subarray(0, nonceLength), sealed.subarray(-tagLength)]
      const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagLength })
      decipher.setAAD(placeBytes(place)).setAuthTag(tag)
      const opened = decipher.update(sealed.subarray(nonceLength, -tagLength))
      return Buffer.concat([opened, decipher.final()]).toString()
    },
  }
}

function placeBytes({ endpointId, version }: SecretPlace): Buffer {
  return Buffer.from(`${endpointId}/${version}`)
}

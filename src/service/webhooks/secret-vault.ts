import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { seedBytes } from '../keyring/seed.ts'

/** Where a secret belongs. It is sealed to this place, so that a row moved elsewhere does not open. */
export type SecretPlace = { endpointId: string; version: number }

/** Keeps secrets unreadable in the database: whoever reads it without the seed cannot sign. */
export type SecretVault = {
  seal(secret: string, place: SecretPlace): Buffer
  /** Throws where the bytes were changed, or were sealed to another place or by another seed. */
  open(sealed: Uint8Array, place: SecretPlace): string
}

const algorithm = 'aes-256-gcm'
const nonceLength = 12
const tagLength = 16

/**
 * AES-256-GCM; the key is derived from the seed by HKDF-SHA256 under a name of its own, so that it tells nothing of
 * the wallets' keys. Sealed is the nonce, the ciphertext and the tag, in this order.
 * @throws Fault `settings_bad` where the seed is no seed.
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

import { createHash, pbkdf2Sync } from 'node:crypto'
import { english } from 'viem/accounts'
import { Fault } from '../../core/errors.ts'

/**
 * The bytes from which every key derives: 16 to 64 bytes in hexadecimal, or an English BIP-39 mnemonic. Its checksum
 * must be valid, because a mistyped word would be another wallet. Error messages never contain the seed.
 * @throws Fault `settings_bad`
 */
export function seedBytes(text: string): Buffer {
  const trimmed = text.trim()
  if (/^(?:[0-9a-f]{2}){16,64}$/i.test(trimmed)) return Buffer.from(trimmed, 'hex')
  const words = trimmed.toLowerCase().split(/\s+/)
  if (!isMnemonic(words)) {
    const fault =
      'the seed is neither 16 to 64 bytes in hexadecimal nor a BIP-39 mnemonic whose checksum holds'
    throw new Fault('settings_bad', { faults: [fault] })
  }
  return pbkdf2Sync(words.join(' '), 'mnemonic', 2048, 64, 'sha512')
}

/** Each word is 11 bits. One bit in 33 is checksum, taken from the SHA-256 of the entropy. */
function isMnemonic(words: readonly string[]): boolean {
  if (![12, 15, 18, 21, 24].includes(words.length)) return false
  const places = words.map((word) => english.indexOf(word))
  if (places.includes(-1)) return false
  const bits = places.map((place) => place.toString(2).padStart(11, '0')).join('')
  const checksumLength = words.length / 3
  const entropy = bits.slice(0, -checksumLength).match(/.{8}/g) ?? []
  const hash = createHash('sha256').update(Uint8Array.from(entropy, (byte) => Number(`0b${byte}`)))
  const expected = (hash.digest()[0] ?? 0).toString(2).padStart(8, '0').slice(0, checksumLength)
  return bits.endsWith(expected)
}

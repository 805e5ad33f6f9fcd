import { generateKeyPairSync, randomBytes } from 'node:crypto'

/** The networks that the interface names, and how their addresses look. */
export const networks = ['mainnet', 'solana', 'base', 'arbitrum'] as const
export const hexadecimal = ['mainnet', 'base', 'arbitrum'] as const

export const hexForm = /^0x[0-9a-fA-F]{40}$/
export const base58Form = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/

/** An id that nobody has chosen before: letters, digits and a dash, for no more is known to be allowed. */
export function freshId(): string {
  return `conformance-${randomBytes(8).toString('hex')}`
}

/** An address on that network that nobody has ever paid. */
export function freshRecipient(network: string): string {
  return network === 'solana' ? freshSolana() : `0x${randomBytes(20).toString('hex')}`
}

/** Hexadecimal addresses may be spelt with a checksum or without. */
export function isSameAddress(one: string, other: string): boolean {
  return one === other || (hexForm.test(one) && one.toLowerCase() === other.toLowerCase())
}

/** A public key on the curve, as a wallet has one: the last 32 bytes of its DER form. */
function freshSolana(): string {
  const { publicKey } = generateKeyPairSync('ed25519')
  return base58(publicKey.export({ type: 'spki', format: 'der' }).subarray(-32))
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

function base58(bytes: Buffer): string {
  let number = BigInt(`0x${bytes.toString('hex')}`)
  let text = ''
  while (number > 0n) {
    text = alphabet.charAt(Number(number % 58n)) + text
    number /= 58n
  }
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(Math.max(zeros, 0)) + text
}

import type { Family } from './asset.ts'

/** The format of a private key's file, for people. */
export const privateKeyForms: Readonly<Record<Family, string>> = {
  evm: '64 hexadecimal digits',
  solana: 'a list of 64 bytes, as solana-keygen writes it',
}

/** The bytes of a private key, for Solana followed by the public half; null if the text is not a key. */
export function parsePrivateKey(family: Family, text: string): Uint8Array | null {
  return parsers[family](text.trim())
}

const parsers: Record<Family, (text: string) => Uint8Array | null> = {
  evm(text) {
    const [, digits] = /^(?:0x)?([0-9a-f]{64})$/i.exec(text) ?? []
    return digits === undefined ? null : new Uint8Array(Buffer.from(digits, 'hex'))
  },
  solana(text) {
    if (!/^\[(?:\s*\d{1,3}\s*,){63}\s*\d{1,3}\s*\]$/.test(text)) return null
    const bytes = [...text.matchAll(/\d+/g)].map(([digits]) => Number(digits))
    return bytes.some((byte) => byte > 255) ? null : Uint8Array.from(bytes)
  },
}

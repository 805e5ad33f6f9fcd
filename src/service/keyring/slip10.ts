import { createHmac } from 'node:crypto'

type ExtendedKey = { key: Buffer; chainCode: Buffer }

const hardened = 0x80000000

/** SLIP-0010; ed25519 supports only hardened steps. `[44, 501, 3, 0]` is `m/44'/501'/3'/0'`. */
export function deriveEd25519(seed: Uint8Array, path: readonly number[]): Buffer {
  const master = split(createHmac('sha512', 'ed25519 seed').update(seed).digest())
  return path.reduce(child, master).key
}

function child({ key, chainCode }: ExtendedKey, step: number): ExtendedKey {
  const data = Buffer.alloc(37)
  key.copy(data, 1)
  data.writeUInt32BE(hardened + step, 33)
  return split(createHmac('sha512', chainCode).update(data).digest())
}

function split(digest: Buffer): ExtendedKey {
  return { key: digest.subarray(0, 32), chainCode: digest.subarray(32) }
}

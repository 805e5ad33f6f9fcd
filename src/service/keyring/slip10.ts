import { createHmac, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'

type ExtendedKey = { key: Buffer; chainCode: Buffer }

const hardened = 0x80000000

/** SLIP-0010; ed25519 supports only hardened steps. `[44, 501, 3, 0]` is `m/44'/501'/3'/0'`. */
export function deriveEd25519(seed: Uint8Array, path: readonly number[]): Buffer {
  const master = split(createHmac('sha512', 'ed25519 seed').update(seed).digest())
  return path.reduce(child, master).key
}

/** 32 bytes; on Solana they are the address. */
export function ed25519PublicKey(privateKey: Uint8Array): Buffer {
  const { x } = createPublicKey(importEd25519(privateKey)).export({ format: 'jwk' })
  return Buffer.from(x ?? '', 'base64url')
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

/** The prefix of PKCS #8 ed25519 keys (RFC 8410), before the 32 bytes. */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex')

export function importEd25519(privateKey: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([pkcs8Head, privateKey]), format: 'der', type: 'pkcs8' })
}

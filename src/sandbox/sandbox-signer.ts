import { createHash } from 'node:crypto'
import { createKeyPairSignerFromPrivateKeyBytes, type KeyPairSigner } from '@solana/kit'

/** Returns the same key for the same name on every machine, so use it for local chains only. */
export function sandboxSigner(name: string): Promise<KeyPairSigner> {
  const seed = createHash('sha256').update(`depositd sandbox ${name}`).digest()
  return createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(seed))
}

import type { KeyObject } from 'node:crypto'
import { isSignedBy, readSignatures, readVerifierKey } from '../ledger/checkpoint.ts'
import { isTextSigned, readPasskey } from './passkey.ts'

/** A public key of the register: of a key file, or a passkey. */
export type PersonKey = {
  person: string
  /** base64 of its DER form. */
  publicKey: string
  /** @param signature a line of a signed note, or what a passkey returned */
  hasSigned: (text: string, signature: string) => boolean
}

export function readPersonKey(text: string): PersonKey | null {
  const passkey = readPasskey(text)
  if (passkey !== null)
    return {
      person: passkey.person,
      publicKey: derOf(passkey.publicKey),
      hasSigned: (body, signature) => isTextSigned(body, signature, passkey),
    }
  const key = readVerifierKey(text)
  if (key?.kind !== 'log') return null
  return {
    person: key.name,
    publicKey: derOf(key.publicKey),
    hasSigned: (body, signature) => isSignedBy({ body, signatures: readSignatures(signature) }, key),
  }
}

/** Keys of different kinds cannot be compared otherwise. */
function derOf(publicKey: KeyObject): string {
  return publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
}

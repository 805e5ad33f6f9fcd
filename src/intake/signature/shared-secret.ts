import { createHash, timingSafeEqual } from 'node:crypto'
import type { Secret, SharedSecretSettings, SignatureScheme } from './scheme.ts'
import { keysAt, parseSecrets } from './secret-keys.ts'
import { headerText, refused } from './signed-scheme.ts'

/**
 * The secret itself in a header, as a bearer token is. It says who sent and nothing of what was sent.
 * @throws Fault `settings_bad`
 */
export function createSharedSecret(
  { header, prefix }: SharedSecretSettings,
  secrets: readonly Secret[],
): SignatureScheme {
  const keys = parseSecrets(secrets, {
    parse: (text) => (ascii.test(text) ? digest(prefix + text) : null),
    form: 'text in ASCII, as headers are',
  })
  return (delivery) => {
    const text = headerText(delivery, header)
    if (text === '') return refused('signature_missing')
    const found = digest(text)
    const matches = keysAt(keys, delivery.receivedAt).some((key) => timingSafeEqual(key, found))
    return matches ? { kind: 'verified', id: null } : refused('signature_wrong')
  }
}

/** Of anything else senders make other bytes each, none of which would be recognised. */
const ascii = /^[\x20-\x7e]+$/

/** Digests have one length, whatever was sent; comparing them tells nothing of the secret. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

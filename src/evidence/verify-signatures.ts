import { createScheme } from '../intake/signature/create-scheme.ts'
import type { Keys, SchemeSettings } from '../intake/signature/scheme.ts'
import type { BundleParts } from './bundle.ts'
import { type BundleCheck, checked, judged, notDone } from './check.ts'
import { bytesOf } from './verify-bundle.ts'

const check = 'signatures'

/**
 * Verifies every webhook with the auditor's own secrets or public keys: those of the bundle's maker would prove
 * nothing.
 */
export function verifySignatures({ evidence, webhooks }: BundleParts, keys: Keys): BundleCheck {
  const rows = evidence.filter(({ source }) => source === 'webhook')
  const signing = webhooks as SchemeSettings
  const given = keys.secrets.length > 0 || keys.publicKeys !== null
  if (rows.length === 0) return notDone(check, 'there are no webhooks')
  if (!given) return notDone(check, 'give WEBHOOK_SECRETS, or --public-keys, to verify the webhooks')
  if (signing.scheme === 'none')
    return judged(check, ['keys are given, and by this bundle no webhook is signed'], '')
  if (signing.scheme === 'shared-secret')
    return notDone(check, 'of a shared secret only a hash is kept, and it proves nothing of a body')
  return checked(check, `${rows.length} webhooks are signed by a key that was given`, () => {
    const verify = createScheme(signing, keys)
    return rows.flatMap(({ inbox, headers, body, receivedAt }) => {
      const verdict = verify({ headers, body: bytesOf(body), receivedAt: new Date(receivedAt) })
      return verdict.kind === 'verified' ? [] : [`row ${inbox}: ${verdict.reason}`]
    })
  })
}

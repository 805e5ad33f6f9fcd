import { createHash } from 'node:crypto'
import type { WebhookDelivery } from '../signature/scheme.ts'

/** Prefixes that may precede a secret in a header. */
const usualPrefixes = ['', 'Bearer ', 'bearer ', 'Token ', 'token ', 'ApiKey ', 'Basic ', 'Secret ']

/**
 * Restores a secret in a capture that contains only its hash. The quarantine stores headers that are credentials by
 * name as `sha256:` and hexadecimal digits; only a holder of the secret can recognise it.
 */
export function restoreSecrets<Kept extends WebhookDelivery>(
  delivery: Kept,
  secrets: readonly string[],
): Kept {
  const known = new Map(
    secrets.flatMap((secret) =>
      usualPrefixes.map((prefix) => [`sha256:${hash(prefix + secret)}`, prefix + secret]),
    ),
  )
  const headers = Object.entries(delivery.headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? (known.get(value) ?? value) : value,
  ])
  return { ...delivery, headers: Object.fromEntries(headers) as WebhookDelivery['headers'] }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

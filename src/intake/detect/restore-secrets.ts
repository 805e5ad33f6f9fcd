import { createHash } from 'node:crypto'
import type { WebhookDelivery } from '../signature/scheme.ts'

/** What may stand before a secret in a header. */
const usualPrefixes = ['', 'Bearer ', 'bearer ', 'Token ', 'token ', 'ApiKey ', 'Basic ', 'Secret ']

/**
 * Puts a secret back where a capture holds only its hash: in the quarantine, headers that are credentials by their
 * name are kept as `sha256:` and hexadecimal digits. Who has the secret recognises it, and nobody else.
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

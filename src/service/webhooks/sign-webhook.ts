import type { SigningKey } from './signing-key.ts'

export type WebhookMessage = { id: string; timestamp: string; body: string }

/**
 * The headers of the Standard Webhooks specification, with a signature by each key in their order: while a secret is
 * rotated, a receiver with either finds its own. The timestamp is in seconds.
 */
export function signedHeaders(keys: readonly SigningKey[], message: WebhookMessage): Record<string, string> {
  const { id, timestamp, body } = message
  const content = `${id}.${timestamp}.${body}`
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': keys.map((key) => key.sign(content)).join(' '),
  }
}

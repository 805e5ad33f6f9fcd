import { createHmac } from 'node:crypto'

export type WebhookMessage = { id: string; timestamp: string; body: string }

const secretForm = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/

export function isWebhookSecret(text: string): boolean {
  return secretBytes(text).length > 0
}

/** The headers of the Standard Webhooks specification. The timestamp is in seconds. */
export function signedHeaders(secret: string, message: WebhookMessage): Record<string, string> {
  const { id, timestamp, body } = message
  const hmac = createHmac('sha256', secretBytes(secret)).update(`${id}.${timestamp}.${body}`)
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${hmac.digest('base64')}`,
  }
}

function secretBytes(secret: string): Buffer {
  return Buffer.from(secretForm.exec(secret)?.[1] ?? '', 'base64')
}

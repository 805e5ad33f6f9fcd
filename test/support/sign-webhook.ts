import { createHmac, randomBytes } from 'node:crypto'

/** A fresh Standard Webhooks secret. */
export function makeSecret(): string {
  return `whsec_${randomBytes(24).toString('base64')}`
}

type Signing = { secret: string; id: string; body: Buffer; at: Date }

/** Signs as a Standard Webhooks sender does; shares no code with the verifier. */
export function signStandardWebhook({ secret, id, body, at }: Signing): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const signature = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
    .update(`${id}.${timestamp}.`)
    .update(body)
    .digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

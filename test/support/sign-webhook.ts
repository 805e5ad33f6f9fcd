import { createHmac, randomBytes } from 'node:crypto'
import { webhookSection } from '../../src/config/webhook-settings.ts'
import { createStandardWebhooks } from '../../src/intake/signature/create-scheme.ts'
import type { SchemeSettings, Secret, SignatureScheme } from '../../src/intake/signature/scheme.ts'

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

/** Secrets without bounds in time. */
export function secretsOf(...texts: string[]): Secret[] {
  return texts.map((text) => ({ text, notBefore: null, notAfter: null }))
}

/** The verifier of the default scheme, by any of the secrets. */
export function standardWebhooks(...secrets: string[]): SignatureScheme {
  const settings = { scheme: 'standard-webhooks', headers: 'webhook', tolerance: 300_000 } as const
  return createStandardWebhooks(settings, { secrets: secretsOf(...secrets), publicKeys: null })
}

/** A section `webhooks` with its defaults, whatever file its public keys would be in. */
export function schemeSettings(section: Readonly<Record<string, unknown>>): SchemeSettings {
  const file = section.scheme === 'public-key' ? { publicKeys: 'keys.pem' } : {}
  return webhookSection.parse({ ...file, ...section })
}

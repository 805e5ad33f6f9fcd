import type { SchemeSettings } from '../signature/scheme.ts'

/**
 * Formats settings as the section `webhooks` of the settings file, without defaults.
 * @param publicKeysPath path of the key file, for a scheme with public keys
 */
export function toSection(settings: SchemeSettings, publicKeysPath: string | null): Record<string, unknown> {
  const defaults = defaultsOf[settings.scheme]
  const entries = Object.entries(settings)
    .map(([name, value]): [string, unknown] => [name, shown(name, value)])
    .filter(([name, value]) => value !== undefined && value !== defaults[name])
  const keys = settings.scheme === 'public-key' ? { publicKeys: publicKeysPath } : {}
  return { ...Object.fromEntries(entries), ...keys }
}

const signed = { prefix: '', template: '{body}', tolerance: '5m' }

/** As in docs/webhooks.md. */
const defaultsOf: Record<SchemeSettings['scheme'], Readonly<Record<string, unknown>>> = {
  'standard-webhooks': { headers: 'webhook', tolerance: '5m' },
  svix: { headers: 'svix', tolerance: '5m' },
  stripe: { header: 'stripe-signature', tolerance: '5m' },
  github: { header: 'x-hub-signature-256' },
  hmac: { ...signed, algorithm: 'sha256', encoding: 'hex', key: 'utf8' },
  'public-key': { ...signed, encoding: 'base64', signatureForm: 'der' },
  'shared-secret': { prefix: '' },
  none: {},
}

function shown(name: string, value: unknown): unknown {
  if (name === 'tolerance') return `${Number(value) / 60_000}m`
  if (name !== 'timestamp' || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value ?? {}).filter(([key, one]) => key !== 'unit' || one !== 's'))
}

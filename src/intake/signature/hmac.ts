import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto'
import { keyForms, keysAt, parseSecrets } from './keys.ts'
import type { HmacSettings, Keys, SchemeSettings, SignatureScheme, SignedSettings } from './scheme.ts'
import { createSignedScheme, type SignedDelivery, signatureFinder } from './signed-scheme.ts'

type HmacAlgorithm = HmacSettings['algorithm']
type Encoding = SignedSettings['encoding']

/**
 * RFC 2104, over the body or a template that contains it.
 * @throws Fault `settings_bad`
 */
export function createHmacScheme(settings: HmacSettings, given: Keys): SignatureScheme {
  const { algorithm, encoding } = settings
  const keys = parseSecrets(given, keyForms[settings.key])
  const find = signatureFinder(settings)
  return createSignedScheme(settings, (signed) => {
    const candidates = find(signed.signatures).map(spelled[encoding])
    return judgeHmacs(candidates, hmacsOf(keysAt(keys, signed.receivedAt), { signed, algorithm, encoding }))
  })
}

/** Hexadecimal may use either case, and base64url may have padding. */
export const spelled: Record<Encoding, (text: string) => string> = {
  hex: (text) => text.toLowerCase(),
  base64: (text) => text,
  base64url: (text) => text.replace(/=+$/, ''),
}

type HmacInput = { signed: SignedDelivery; algorithm: HmacAlgorithm; encoding: Encoding }

export function hmacsOf(keys: readonly KeyObject[], { signed, algorithm, encoding }: HmacInput): string[] {
  const { head, body, tail } = signed
  return keys.map((key) => {
    const hmac = createHmac(algorithm, key).update(head).update(body)
    return (tail === '' ? hmac : hmac.update(tail)).digest(encoding)
  })
}

/** Compares text, so that another spelling of the same bytes is refused too. */
export function judgeHmacs(
  candidates: readonly string[],
  expected: readonly string[],
): 'signature_missing' | 'signature_wrong' | null {
  const [length = 0] = expected.map((text) => text.length)
  const whole = candidates.filter((text) => text.length === length)
  if (candidates.length === 0 || (length > 0 && whole.length === 0)) return 'signature_missing'
  const matches = whole.some((candidate) =>
    expected.some((text) => timingSafeEqual(Buffer.from(candidate, 'latin1'), Buffer.from(text, 'latin1'))),
  )
  return matches ? null : 'signature_wrong'
}

type SymmetricSettings = Exclude<
  SchemeSettings,
  { scheme: 'capture' | 'none' | 'public-key' | 'shared-secret' }
>

const usual = { scheme: 'hmac', prefix: '', algorithm: 'sha256', encoding: 'hex', key: 'utf8' } as const
const square = {
  header: 'x-square-hmacsha256-signature',
  encoding: 'base64',
  template: '{url}{body}',
} as const
const hubspot = {
  header: 'x-hubspot-signature-v3',
  encoding: 'base64',
  template: '{method}{decoded_url}{body}{timestamp}',
  timestamp: { header: 'x-hubspot-request-timestamp', unit: 'ms' },
} as const

/**
 * Standard Webhooks and Svix: `v1,…` over `id.timestamp.body`. Source: github.com/standard-webhooks/standard-webhooks,
 * spec/standard-webhooks.md.
 *
 * Stripe: `t=…,v1=…` over `timestamp.body`. The secret includes `whsec_`. Source: docs.stripe.com/webhooks/signatures.
 *
 * GitHub: `sha256=…`. Neither an id nor a time is signed, so only the body identifies a replay. Source:
 * docs.github.com/webhooks/using-webhooks/validating-webhook-deliveries.
 *
 * Square: over URL and body. Source: developer.squareup.com/docs/webhooks/step3validate.
 *
 * HubSpot, version 3: over method, URL, body and time. Source:
 * developers.hubspot.com/docs/apps/developer-platform/build-apps/authentication/request-validation.
 */
export function asHmac(settings: SymmetricSettings): HmacSettings {
  if (settings.scheme === 'hmac') return settings
  if (settings.scheme === 'github')
    return { ...usual, header: settings.header, prefix: 'sha256=', template: '{body}', tolerance: 0 }
  if (settings.scheme === 'square')
    return { ...usual, ...square, publicUrl: settings.publicUrl, tolerance: 0 }
  const { tolerance } = settings
  if (settings.scheme === 'hubspot') return { ...usual, ...hubspot, publicUrl: settings.publicUrl, tolerance }
  if (settings.scheme === 'stripe') {
    const { header } = settings
    const timestamp = { header, field: 't', unit: 's' } as const
    return { ...usual, header, field: 'v1', template: '{timestamp}.{body}', timestamp, tolerance }
  }
  const { headers } = settings
  return {
    ...usual,
    header: `${headers}-signature`,
    prefix: 'v1,',
    encoding: 'base64',
    key: 'whsec',
    template: '{id}.{timestamp}.{body}',
    id: { header: `${headers}-id` },
    timestamp: { header: `${headers}-timestamp`, unit: 's' },
    tolerance,
  }
}

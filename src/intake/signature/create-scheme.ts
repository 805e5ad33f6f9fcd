import { github } from './github.ts'
import { createHmacScheme } from './hmac.ts'
import { createPublicKeyScheme } from './public-key.ts'
import type { Keys, SchemeSettings, SignatureScheme } from './scheme.ts'
import { createSharedSecret } from './shared-secret.ts'
import { createStandardWebhooks } from './standard-webhooks.ts'
import { stripe } from './stripe.ts'

/**
 * The verifier of a scheme, with everything that can be made once made.
 * @throws Fault `settings_bad` naming every secret or key that does not fit, by its place and never by its text.
 */
export function createScheme(settings: SchemeSettings, { secrets, publicKeys }: Keys): SignatureScheme {
  if (settings.scheme === 'none') return () => ({ kind: 'verified', id: null })
  if (settings.scheme === 'shared-secret') return createSharedSecret(settings, secrets)
  if (settings.scheme === 'public-key') return createPublicKeyScheme(settings, publicKeys ?? '')
  if (settings.scheme === 'stripe') return createHmacScheme(stripe(settings), secrets)
  if (settings.scheme === 'github') return createHmacScheme(github(settings), secrets)
  if (settings.scheme === 'hmac') return createHmacScheme(settings, secrets)
  return createStandardWebhooks(settings, secrets)
}

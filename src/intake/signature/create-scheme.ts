import { Fault } from '../../core/errors.ts'
import type { Keys, Scheme, SchemeSettings } from './scheme.ts'
import { createStandardWebhooks } from './standard-webhooks.ts'

/**
 * The verifier of a scheme, with everything that can be made once made.
 * @throws Fault `settings_bad` naming every secret or key that does not fit, by its place and never by its text.
 */
export function createScheme(settings: SchemeSettings, { secrets }: Keys): Scheme {
  if (settings.scheme === 'standard-webhooks')
    return createStandardWebhooks({
      secrets: secrets.map(({ text }) => text),
      toleranceSeconds: settings.tolerance / 1000,
    })
  throw new Fault('settings_bad', { faults: [`webhooks.scheme ${settings.scheme} has no verifier`] })
}

import { secretsOf } from '../config/secrets-of.ts'
import type { Settings } from '../config/settings.ts'
import { createHidden, type SecretRedactor } from '../log/hide-secrets.ts'

/** Redacts the secrets of the settings in the log and in all other output. */
export function hiddenOf(settings: Settings): SecretRedactor {
  const hidden = createHidden()
  hidden.add(secretsOf(settings))
  return hidden
}

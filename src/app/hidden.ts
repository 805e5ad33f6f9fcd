import { secretsOf } from '../config/secrets-of.ts'
import type { Settings } from '../config/settings.ts'
import { createHidden, type SecretRedactor } from '../log/hide-secrets.ts'

/** What is not to be shown anywhere, in lines of the log or elsewhere. */
export function hiddenOf(settings: Settings): SecretRedactor {
  const hidden = createHidden()
  hidden.add(secretsOf(settings))
  return hidden
}

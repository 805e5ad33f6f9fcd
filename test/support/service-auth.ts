import { EnvironmentReader } from '../../src/config/environment.ts'
import { readServiceAuth, refuseUnusedSecrets, type ServiceAuth } from '../../src/config/service-auth.ts'
import { serviceAuthSection } from '../../src/config/service-auth-schema.ts'
import { Fault } from '../../src/core/errors.ts'

/** As settings with this section `service.auth` have it. */
export function serviceAuth(section: object, environment: Record<string, string>): ServiceAuth {
  const reader = new EnvironmentReader(environment)
  const auth = readServiceAuth(reader, serviceAuthSection.parse(section), 'service.auth')
  refuseUnusedSecrets(reader)
  if (reader.faults.length > 0) throw new Fault('settings_bad', { faults: reader.faults })
  return auth
}

/** As settings have it that say nothing of it. */
export function keyAuth(apiKey: string): ServiceAuth {
  return serviceAuth({}, { SERVICE_API_KEY: apiKey })
}

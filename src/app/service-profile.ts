import { knownNetworks } from '../config/known-networks.ts'
import type { ServiceSettings, Settings } from '../config/settings.ts'
import { stableWalletNetwork } from '../core/evidence.ts'
import { loadProfile } from '../provider/profile/parse-profile.ts'
import type { Profile } from '../provider/profile/profile-schema.ts'

/** @throws Fault `settings_bad` that lists every error with its line */
export function loadServiceProfile(
  { networks }: Pick<Settings, 'networks'>,
  { profilePath }: Pick<ServiceSettings, 'profilePath'>,
): Profile {
  // A bundled profile may name a network that is not configured here.
  const names = [...networks, ...knownNetworks].map(({ name }): string => name)
  return loadProfile(profilePath, new Set([...names, stableWalletNetwork]))
}

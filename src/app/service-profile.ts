import { knownNetworks } from '../config/known-networks.ts'
import type { Settings } from '../config/settings.ts'
import { stableWalletNetwork } from '../core/evidence.ts'
import { loadProfile } from '../provider/profile/load-profile.ts'
import type { Profile } from '../provider/profile/profile-schema.ts'

/**
 * The mapping profile that the settings name, held against the networks that there are.
 * @throws Fault `settings_bad` that names every fault with its line.
 */
export function loadServiceProfile({ service, networks }: Pick<Settings, 'service' | 'networks'>): Profile {
  // Those that are known without being set, too: a profile that comes along may name one that is not used here.
  const names = [...networks, ...knownNetworks].map(({ name }): string => name)
  return loadProfile(service.profilePath, new Set([...names, stableWalletNetwork]))
}

import { join } from 'node:path'
import { loadProfile } from '../../src/provider/profile/parse-profile.ts'
import type { Profile } from '../../src/provider/profile/profile-schema.ts'

/** One of the profiles that come along, by its name. */
export const profileOf = (name: string) =>
  loadProfile(join(import.meta.dirname, `../../profiles/${name}.yaml`))

/** How the project's own service is read. */
export const ownProfile = profileOf('depositd')

/** As it would be if it sent several events in one webhook. */
export const batchingProfile: Profile = {
  ...ownProfile,
  webhook: { ...ownProfile.webhook, items: 'events' },
}

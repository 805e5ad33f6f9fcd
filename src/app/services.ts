import { isDeepStrictEqual } from 'node:util'
import type { ServiceSettings, Settings } from '../config/settings.ts'
import { messageOf } from '../core/errors.ts'
import type { ServiceName } from '../core/evidence.ts'
import type { AdmissionDeps } from '../intake/admit-delivery.ts'
import { openScheme } from '../intake/signature/create-scheme.ts'
import type { SettingsReading } from '../ops/observe.ts'
import type { Profile } from '../provider/profile/profile-schema.ts'
import { createEventIdReader } from '../provider/read-claim.ts'
import { loadServiceProfile } from './service-profile.ts'

/** Any other change becomes active after a restart. */
const followedNames = ['services', 'senders', 'checkedOutflows', 'policy', 'routes', 'contras'] as const
type FollowedSettings = Pick<Settings, (typeof followedNames)[number]>

export type OpenService = { settings: ServiceSettings; profile: Profile; admission: AdmissionDeps }

/** The services as the settings name them now. */
export type Services = {
  followed: () => FollowedSettings
  open: () => ReadonlyMap<ServiceName, OpenService>
  names: () => readonly string[]
  /** The listener is called after each change. */
  onChange: (listener: () => void) => void
  /** Reads the settings now. Without it, they are read every few seconds. */
  reload: () => void
  stop: () => void
}

type ServicesDeps = {
  /** Absent if the settings never change. @throws Fault `settings_bad` */
  readSettings?: () => Settings
  everyMs?: number
  report: (reading: SettingsReading) => void
}

/** An operator waits for the change. */
const usualEveryMs = 2000

/**
 * Follows the settings at run time; a change that cannot be used leaves everything as it was. Compares contents, not
 * file times: a mounted secret changes by moving a symlink, and some file systems send no notifications.
 * @throws Fault `settings_bad` if the first settings cannot be used
 */
export function followServices(
  first: Settings,
  { readSettings = () => first, everyMs = usualEveryMs, report }: ServicesDeps,
): Services {
  const listeners: (() => void)[] = []
  let current = openServices(first)
  let problem = ''

  const read = (): SettingsReading => {
    try {
      const settings = readSettings()
      const next = settings === current.settings ? current : openServices(settings)
      const isSame = isDeepStrictEqual(next.compared, current.compared)
      current = isSame ? { ...current, settings } : next
      return { kind: isSame ? 'unchanged' : 'changed', ...reportedOf(first, current) }
    } catch (error) {
      return { kind: 'refused', error }
    }
  }
  // Reports a persistent problem once, not at every check.
  const look = (isAsked: boolean) => {
    const reading = read()
    const found = reading.kind === 'refused' ? messageOf(reading.error) : ''
    const isNews = reading.kind === 'changed' || (reading.kind === 'refused' && found !== problem)
    problem = found
    if (isAsked || isNews) report(reading)
    if (reading.kind === 'changed') for (const listener of listeners) listener()
  }
  const timer = setInterval(look, everyMs, false)
  timer.unref()
  report({ kind: 'opened', ...reportedOf(first, current) })

  return {
    followed: () => current.settings,
    open: () => current.services,
    names: () => [...current.services.keys()],
    onChange: (listener) => void listeners.push(listener),
    reload: () => look(true),
    stop: () => clearInterval(timer),
  }
}

type OpenServices = {
  settings: Settings
  services: ReadonlyMap<ServiceName, OpenService>
  /** What a change of theirs is. */
  compared: unknown
}

/** @throws Fault `settings_bad` if a secret or key does not fit its scheme, or a profile cannot be used */
function openServices(settings: Settings): OpenServices {
  const now = new Date()
  const services = settings.services.map((service): OpenService => {
    const { signing, keys } = service.webhooks
    const profile = loadServiceProfile(settings, service)
    const admission = {
      service: service.name,
      verify: openScheme(signing, keys, now),
      signing,
      secrets: keys.secrets,
      readEventId: createEventIdReader(profile),
    }
    return { settings: service, profile, admission }
  })
  return {
    settings,
    services: new Map(services.map((service) => [service.settings.name, service])),
    compared: [followedNames.map((name) => settings[name]), services.map(({ profile }) => profile)],
  }
}

function reportedOf(first: Settings, { settings }: OpenServices) {
  const names = Object.keys(first) as (keyof Settings)[]
  const atStart = names.filter((name) => !followedNames.some((one) => one === name))
  return {
    services: Object.fromEntries(
      settings.services.map(({ name, isPaused, webhooks }) => [
        name,
        isPaused ? `${webhooks.signing.scheme}, paused` : webhooks.signing.scheme,
      ]),
    ),
    polled: settings.services.filter(({ isPaused }) => !isPaused).map(({ name }) => name),
    unsigned: settings.services
      .filter(({ webhooks }) => webhooks.signing.scheme === 'none')
      .map(({ name }) => name),
    restart: atStart.filter((name) => !isDeepStrictEqual(first[name], settings[name])),
  }
}

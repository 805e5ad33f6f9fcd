import { createHidden, type SecretRedactor } from '../log/hide-secrets.ts'
import type { NotificationTarget } from './notifications.ts'
import type { ServiceConfig } from './service-settings.ts'
import type { Settings } from './settings.ts'

type SettingsWithSecrets = Pick<
  Settings,
  | 'databaseUrl'
  | 'queueUrl'
  | 'services'
  | 'networks'
  | 'ops'
  | 'ledgerKey'
  | 'eventsKey'
  | 'people'
  | 'tracing'
  | 'canary'
  | 'notifications'
  | 'valuation'
>

export function secretsOf(settings: SettingsWithSecrets): string[] {
  const { services, networks, tracing } = settings
  const addresses = [
    ...networks.flatMap(({ rpcUrls }) => rpcUrls),
    ...services.map(({ url }) => url),
    tracing?.url,
    settings.canary?.url,
    ...(settings.valuation?.prices ?? []),
  ]
  return [
    ...services.flatMap(({ auth }) => auth.secrets.map(({ text }) => text)),
    settings.ops.token,
    ...keysOf(settings),
    settings.people.openIdSecret,
    ...secretsOfTargets(settings.notifications),
    ...services.flatMap(({ webhooks }) =>
      webhooks.keys.secrets.flatMap(({ text }) => [text, text.replace(/^whsec_/, '')]),
    ),
    ...[settings.databaseUrl, settings.queueUrl, settings.people.databaseUrl ?? ''].flatMap(passwordOf),
    ...addresses.flatMap(keysIn),
    ...Object.values(tracing?.headers ?? {}),
  ].filter(isGiven)
}

function keysOf({ ledgerKey, eventsKey, people }: SettingsWithSecrets): (string | undefined)[] {
  return [ledgerKey?.text, eventsKey?.toString('base64'), people.signingKey?.text]
}

function secretsOfTargets(notifications: Settings['notifications']): string[] {
  const { channels, people } = notifications ?? { channels: [], people: [] }
  return [...channels, ...people].flatMap(({ target }) => secretsOfTarget(target))
}

function secretsOfTarget(target: NotificationTarget): string[] {
  if (target.type === 'email') return passwordOf(target.smtpUrl)
  const secrets = target.type === 'webhook' ? [target.secret, target.secret.replace(/^whsec_/, '')] : []
  return [...secrets, target.url, ...keysIn(target.url)]
}

export function redactorOf(settings: SettingsWithSecrets): SecretRedactor {
  const hidden = createHidden()
  hidden.add(secretsOf(settings))
  return hidden
}

export function secretsOfService({ databaseUrl, seed, tls, webhook, ...config }: ServiceConfig): string[] {
  const addresses = [...config.networks.flatMap(({ rpcUrls }) => rpcUrls), config.pricesUrl, webhook?.url]
  return [seed, ...passwordOf(databaseUrl), ...addresses.flatMap(keysIn), webhook?.secret, tls?.key].filter(
    isGiven,
  )
}

function isGiven(secret: string | null | undefined): secret is string {
  return secret !== null && secret !== undefined && secret !== ''
}

/** Includes the query. User, path and query are otherwise plain words. */
function passwordOf(text: string): string[] {
  const url = URL.parse(text)
  if (url === null) return []
  const given = ['password', 'sslpassword'].flatMap((name) => url.searchParams.getAll(name))
  return [url.password, decoded(url.password), ...given, ...given.map(encodeURIComponent)]
}

/** A key may be anywhere: the password, the values of the query, and long user and path segments. */
function keysIn(text: string | null | undefined): string[] {
  const url = URL.parse(text ?? '')
  if (url === null) return []
  const long = [url.username, ...url.pathname.split('/')].filter(({ length }) => length >= keyLengthMin)
  return [...passwordOf(url.href), ...long, ...long.map(decoded), ...url.searchParams.values()]
}

/** Shorter ones are words, such as `v2` and `mainnet`. */
const keyLengthMin = 12

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

import type { ServiceConfig } from './service-settings.ts'
import type { Settings } from './settings.ts'

type SettingsWithSecrets = Pick<
  Settings,
  'databaseUrl' | 'queueUrl' | 'service' | 'webhooks' | 'networks' | 'ops' | 'tracing' | 'canary'
>

/** Everything in the settings that nobody may read in a log. */
export function secretsOf({
  databaseUrl,
  queueUrl,
  service,
  webhooks,
  networks,
  ops,
  tracing,
  canary,
}: SettingsWithSecrets): string[] {
  const addresses = [
    ...networks.flatMap(({ rpcUrls }) => rpcUrls),
    service.url,
    ...(tracing === null ? [] : [tracing.url]),
    ...(canary.webhooks === null ? [] : [canary.webhooks.url]),
  ]
  return [
    service.apiKey,
    ops.token ?? '',
    ...webhooks.keys.secrets.flatMap(({ text }) => [text, text.replace(/^whsec_/, '')]),
    ...[databaseUrl, queueUrl].flatMap(passwordOf),
    ...addresses.flatMap(keysIn),
    ...Object.values(tracing?.headers ?? {}),
  ].filter((secret) => secret !== '')
}

/** The same of the deposit service's settings. */
export function secretsOfService({
  databaseUrl,
  seed,
  networks,
  pricesUrl,
  webhook,
  tls,
}: ServiceConfig): string[] {
  const addresses = [
    ...networks.flatMap(({ rpcUrls }) => rpcUrls),
    ...(pricesUrl === null ? [] : [pricesUrl]),
  ]
  const ownWebhook = webhook === null ? [] : [webhook.secret, ...keysIn(webhook.url)]
  return [
    seed,
    ...passwordOf(databaseUrl),
    ...addresses.flatMap(keysIn),
    ...ownWebhook,
    tls?.key ?? '',
  ].filter((secret) => secret !== '')
}

/** Of an address whose user, path and query are words, except for a password that is given as one of the query. */
function passwordOf(text: string): string[] {
  const url = URL.parse(text)
  if (url === null) return []
  const given = ['password', 'sslpassword'].flatMap((name) => url.searchParams.getAll(name))
  return [url.password, decoded(url.password), ...given, ...given.map(encodeURIComponent)]
}

/** Of an address that may hold a key anywhere: its password, what its query says, and its user and parts of its path where they are long. */
function keysIn(text: string): string[] {
  const url = URL.parse(text)
  if (url === null) return []
  const long = [url.username, ...url.pathname.split('/')].filter(({ length }) => length >= keyLengthMin)
  return [...passwordOf(text), ...long, ...long.map(decoded), ...url.searchParams.values()]
}

/** Shorter ones are words, as `v2` and `mainnet`. */
const keyLengthMin = 12

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

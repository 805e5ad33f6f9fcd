import { createHidden, type SecretRedactor } from '../log/hide-secrets.ts'
import type { ServiceConfig } from './service-settings.ts'
import type { Settings } from './settings.ts'

type SettingsWithSecrets = Pick<
  Settings,
  'databaseUrl' | 'queueUrl' | 'service' | 'webhooks' | 'networks' | 'ops' | 'tracing' | 'canary'
>

/** All secrets in the settings, which no log may contain. */
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
    ...(canary === null ? [] : [canary.url]),
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

/** Redacts all secrets of the settings. */
export function redactorOf(settings: SettingsWithSecrets): SecretRedactor {
  const hidden = createHidden()
  hidden.add(secretsOf(settings))
  return hidden
}

/** All secrets in the deposit service's settings. */
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

/** Passwords in a URL whose user, path and query are otherwise plain words; includes passwords in the query. */
function passwordOf(text: string): string[] {
  const url = URL.parse(text)
  if (url === null) return []
  const given = ['password', 'sslpassword'].flatMap((name) => url.searchParams.getAll(name))
  return [url.password, decoded(url.password), ...given, ...given.map(encodeURIComponent)]
}

/**
 * Secrets in a URL that may contain a key anywhere: its password, the values of its query, and its user and path
 * segments if they are long.
 */
function keysIn(text: string): string[] {
  const url = URL.parse(text)
  if (url === null) return []
  const long = [url.username, ...url.pathname.split('/')].filter(({ length }) => length >= keyLengthMin)
  return [...passwordOf(text), ...long, ...long.map(decoded), ...url.searchParams.values()]
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

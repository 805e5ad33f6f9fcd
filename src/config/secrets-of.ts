import type { ServiceConfig } from './service-settings.ts'
import type { Settings } from './settings.ts'

type Holding = Pick<Settings, 'databaseUrl' | 'queueUrl' | 'service' | 'webhooks' | 'networks' | 'tracing'>

/** Everything in the settings that nobody may read in a log. */
export function secretsOf({
  databaseUrl,
  queueUrl,
  service,
  webhooks,
  networks,
  tracing,
}: Holding): string[] {
  const nodes = networks.flatMap(({ rpcUrls }) => rpcUrls)
  return [
    service.apiKey,
    ...webhooks.keys.secrets.flatMap(({ text }) => [text, text.replace(/^whsec_/, '')]),
    ...[databaseUrl, queueUrl].flatMap(passwordOf),
    ...[...nodes, service.url, ...(tracing === null ? [] : [tracing.url])].flatMap(keysIn),
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

function passwordOf(text: string): string[] {
  const password = URL.parse(text)?.password ?? ''
  return [password, decoded(password)]
}

/** Of an address that may hold a key anywhere: its password, what its query says, and the long parts of its path. */
function keysIn(text: string): string[] {
  const url = URL.parse(text)
  if (url === null) return []
  const path = url.pathname.split('/').filter(({ length }) => length >= keyLengthMin)
  return [...passwordOf(text), ...path, ...url.searchParams.values()]
}

/** Shorter parts of a path are words, as `v2` and `mainnet`. */
const keyLengthMin = 12

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

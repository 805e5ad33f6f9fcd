import { isIP } from 'node:net'
import { createSecureContext } from 'node:tls'
import { assetCode, type NetworkSettings } from '../core/asset.ts'
import { Fault, messageOf } from '../core/errors.ts'
import { parseAmount } from '../core/money.ts'
import type { RateLimit } from '../http/token-buckets.ts'
import { isWebhookSecret } from '../outbox/signing-key.ts'
import { canonicalUrl, findUrlFault, isPrivateUrl } from '../outbox/webhook-url.ts'
import { isApiKey } from './api-keys.ts'
import { findQuoteFaults, type QuoteSettings } from './deposits/prices.ts'
import { type FaultSettings, findSettingFaults } from './faults/faults.ts'
import type { ApiScope } from './tables.ts'
import type { WebhookEndpoint } from './webhooks/endpoints.ts'

/** `dsk_`, eight hexadecimal digits, `_` and 48 more. */
export type ConfiguredApiKey = { key: string; scope: ApiScope }

/** `minimums['base/USDC']`: the least balance that is swept, in whole units. */
export type SweepSettings = { minimums: Readonly<Record<string, string>> }

export type DepositServiceSettings = ApiServerSettings &
  ServiceWebhookSettings & {
    /** The service's own database; the schema is `service`. */
    databaseUrl: string
    /** Hexadecimal bytes or a BIP-39 mnemonic, from which all addresses derive. */
    seed: string
    networks: readonly NetworkSettings[]
    /** In addition to those in the database. A revoked key stays revoked. */
    apiKeys: readonly ConfiguredApiKey[]
    quotes: QuoteSettings
    /** If null, deposits stay at the deposit addresses. */
    sweep: SweepSettings | null
    /** After this, an unmined EVM transaction is signed again with a higher fee. */
    replaceAfterMs: number
    /** Null disables fault injection. */
    faults: FaultSettings | null
    /** Loopback; 0 picks a free port. Requires `faults`. */
    adminPort?: number
    pollEveryMs: number
  }

/** Reports all problems at once, without secrets. @throws Fault `settings_bad` */
export function checkSettings(settings: DepositServiceSettings): void {
  const faults = findFaults(settings)
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
}

export function findFaults(settings: DepositServiceSettings): string[] {
  return [
    ...findServerFaults(settings),
    ...settings.networks.flatMap(networkFaults),
    ...repeated(settings.networks.map(({ name }) => name)).map((name) => `network ${name} is listed twice`),
    ...keyFaults(settings.apiKeys),
    ...findWebhookFaults(settings),
    ...paymentFaults(settings),
    ...findSettingFaults(settings.faults ?? {}),
    ...(settings.adminPort === undefined || settings.faults !== null ? [] : ['adminPort requires faults']),
    ...(Number.isInteger(settings.pollEveryMs) && settings.pollEveryMs > 0
      ? []
      : ['pollEveryMs is not positive']),
  ]
}

function networkFaults({ name, family, chainId, rpcUrls, assets }: NetworkSettings): string[] {
  const natives = assets.filter(({ key }) => assetCode(key) === 'native')
  return [
    ...(rpcUrls.length === 0 ? [`network ${name} has no RPC URL`] : []),
    // viem would use a public one.
    ...(rpcUrls.every(isHttpUrl) ? [] : [`network ${name} has an RPC URL that is not http or https`]),
    ...((family === 'evm') === (chainId !== null)
      ? []
      : [`network ${name} needs a chain id if it is EVM, and none otherwise`]),
    ...(natives.length > 1 ? [`network ${name} has two native coins`] : []),
    ...repeated(assets.map(({ symbol }) => symbol)).map(
      (symbol) => `network ${name} has two assets called ${symbol}`,
    ),
  ]
}

function keyFaults(apiKeys: readonly ConfiguredApiKey[]): string[] {
  return [
    ...(apiKeys.every(({ key }) => isApiKey(key)) ? [] : ['an API key is malformed']),
    ...(repeated(apiKeys.map(({ key }) => key)).length === 0 ? [] : ['an API key is listed twice']),
  ]
}

function paymentFaults({ networks, quotes, sweep, replaceAfterMs }: DepositServiceSettings): string[] {
  const source = quotes.source === null || isHttpUrl(quotes.source.url)
  return [
    ...findQuoteFaults(quotes),
    ...(source ? [] : ['the URL of the price source is not http or https']),
    ...(sweep === null ? [] : findSweepFaults(sweep, networks)),
    ...(Number.isInteger(replaceAfterMs) && replaceAfterMs > 0 ? [] : ['replaceAfterMs is not positive']),
  ]
}

function findSweepFaults({ minimums }: SweepSettings, networks: readonly NetworkSettings[]): string[] {
  const decimals = new Map<string, number>(
    networks.flatMap(({ name, assets }) =>
      assets.map((asset) => [`${name}/${asset.symbol}`, asset.decimals] as const),
    ),
  )
  return Object.entries(minimums)
    .filter(([name, amount]) => {
      const known = decimals.get(name)
      return known === undefined || !isAmount(amount, known)
    })
    .map(
      ([name, amount]) =>
        `sweep minimum ${name} = ${amount} is not an asset like base/USDC and an amount of it`,
    )
}

function isAmount(text: string, decimals: number): boolean {
  try {
    return parseAmount(text, decimals) >= 0n
  } catch {
    return false
  }
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

function repeated(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, place) => names.indexOf(name) !== place))]
}

export type ServiceWebhookSettings = {
  /** In addition to those registered through the API. */
  webhooks: readonly WebhookEndpoint[]
  /** If others than the operator can register endpoints, this lets them reach the operator's internal network. */
  allowPrivateWebhooks: boolean
}

/** By position: a rejected URL may contain a password. */
function findWebhookFaults({ webhooks, allowPrivateWebhooks }: ServiceWebhookSettings): string[] {
  const urls = webhooks.map(({ url }) => url).filter((url) => findUrlFault(url) === null)
  return [
    ...webhooks.flatMap((webhook, place) => endpointFaults(webhook, place + 1)),
    ...(new Set(urls.map(canonicalUrl)).size === urls.length ? [] : ['a webhook is listed twice']),
    ...(allowPrivateWebhooks || !urls.some(isPrivateUrl)
      ? []
      : ['the address of a webhook is private, and allowPrivateWebhooks is false']),
  ]
}

function endpointFaults({ url, secret }: WebhookEndpoint, number: number): string[] {
  const urlFault = findUrlFault(url)
  return [
    ...(urlFault === null ? [] : [`the URL of webhook ${number} ${urlFault}`]),
    ...(isWebhookSecret(secret)
      ? []
      : [`the secret of webhook ${number} is not whsec_ or whsk_ followed by base64 of the right length`]),
  ]
}

/** PEM. */
export type TlsSettings = { cert: string; key: string }

export type ConnectionLimits = {
  headersMs: number
  requestMs: number
  idleMs: number
  connectionsMax: number
}

export type ApiServerSettings = {
  /** 0 picks a free port. */
  port: number
  /** Loopback by default. */
  host?: string
  /** If set, the server speaks only HTTPS. */
  tls?: TlsSettings
  /** Per key. */
  rateLimit?: RateLimit
  limits?: Partial<ConnectionLimits>
}

export const loopback = '127.0.0.1'

export const connectionLimits: ConnectionLimits = {
  headersMs: 10_000,
  requestMs: 30_000,
  idleMs: 60_000,
  connectionsMax: 1000,
}

/** Without any content of the private key. */
function findServerFaults({ host = loopback, tls, rateLimit, limits }: ApiServerSettings): string[] {
  const counts = Object.entries({ ...connectionLimits, ...limits })
  return [
    ...(isIP(host) === 0 ? [`host ${host} is not an IP address`] : []),
    ...(tls === undefined ? [] : certificateFaults(tls)),
    ...Object.entries(rateLimit ?? {})
      .filter(([, value]) => !(Number.isFinite(value) && value > 0))
      .map(([name]) => `rateLimit.${name} is not above 0`),
    ...(rateLimit !== undefined && rateLimit.burst < 1 ? ['rateLimit.burst is below 1'] : []),
    ...counts
      .filter(([, value]) => !(Number.isInteger(value) && value > 0))
      .map(([name]) => `limits.${name} is not a whole number above 0`),
  ]
}

/** API keys and deposits would cross a network unencrypted. */
export function isExposed({ host = loopback, tls }: ApiServerSettings): boolean {
  return tls === undefined && !/^(?:127\.|::1$)/.test(host)
}

function certificateFaults(tls: TlsSettings): string[] {
  try {
    createSecureContext(tls)
    return []
  } catch (error) {
    return [`tls is not a certificate and its key in PEM: ${messageOf(error).slice(0, 100)}`]
  }
}

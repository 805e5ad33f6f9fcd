import type { NetworkSettings } from '../chain/types.ts'
import { assetCode } from '../core/asset.ts'
import { Fault } from '../core/errors.ts'
import { isApiKey } from './api-keys.ts'
import { findQuoteFaults, type QuoteSettings } from './deposits/prices.ts'
import { type FaultSettings, findSettingFaults } from './faults/faults.ts'
import { type ApiServerSettings, findServerFaults } from './http/server-settings.ts'
import type { ApiScope } from './tables.ts'
import { findSweepFaults, type SweepSettings } from './transfers/due-sweeps.ts'
import { findWebhookFaults, type ServiceWebhookSettings } from './webhooks/webhook-settings.ts'

/** `dsk_`, eight hexadecimal digits, `_` and 48 more. */
export type ConfiguredApiKey = { key: string; scope: ApiScope }

export type DepositServiceSettings = ApiServerSettings &
  ServiceWebhookSettings & {
    /** A database of its own; the service uses the schema `service`. */
    databaseUrl: string
    /** Hexadecimal bytes or a BIP-39 mnemonic. All deposit addresses and the liquidity wallet derive from it. */
    seed: string
    networks: readonly NetworkSettings[]
    /** Keys in addition to those in the database. A revoked key stays revoked. */
    apiKeys: readonly ConfiguredApiKey[]
    quotes: QuoteSettings
    /** If null, deposits stay at the deposit addresses. */
    sweep: SweepSettings | null
    /** An EVM transaction that is unmined for this long is signed again with a higher fee. */
    replaceAfterMs: number
    /** The faults that may be injected; null disables fault injection. */
    faults: FaultSettings | null
    /** Loopback port of the fault server; 0 picks a free port. Requires `faults`. */
    adminPort?: number
    /** Interval between two polls of a network, and between two polls for due deliveries. */
    pollEveryMs: number
  }

/**
 * Checks what the types cannot express and reports all problems at once. The message contains no secrets.
 * @throws Fault `settings_bad`
 */
export function checkSettings(settings: DepositServiceSettings): void {
  const faults = findFaults(settings)
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
}

/** Every problem, in text without secrets. */
export function findFaults(settings: DepositServiceSettings): string[] {
  return [
    ...findServerFaults(settings),
    ...settings.networks.flatMap(networkFaults),
    ...repeated(settings.networks.map(({ name }) => name)).map((name) => `network ${name} is named twice`),
    ...keyFaults(settings.apiKeys),
    ...findWebhookFaults(settings),
    ...paymentFaults(settings),
    ...findSettingFaults(settings.faults ?? {}),
    ...(settings.adminPort === undefined || settings.faults !== null
      ? []
      : ['adminPort is for faults alone']),
    ...(Number.isInteger(settings.pollEveryMs) && settings.pollEveryMs > 0
      ? []
      : ['pollEveryMs is not positive']),
  ]
}

function networkFaults({ name, family, chainId, rpcUrls, assets }: NetworkSettings): string[] {
  const natives = assets.filter(({ key }) => assetCode(key) === 'native')
  return [
    ...(rpcUrls.length === 0 ? [`network ${name} has no RPC address`] : []),
    // viem treats an empty URL as "use a public one".
    ...(rpcUrls.every(isHttpUrl) ? [] : [`network ${name} has an RPC address that is not http`]),
    ...((family === 'evm') === (chainId !== null)
      ? []
      : [`network ${name} needs a chain id if, and only if, it is EVM`]),
    ...(natives.length > 1 ? [`network ${name} has two native coins`] : []),
    ...repeated(assets.map(({ symbol }) => symbol)).map(
      (symbol) => `network ${name} has two assets called ${symbol}`,
    ),
  ]
}

function keyFaults(apiKeys: readonly ConfiguredApiKey[]): string[] {
  return [
    ...(apiKeys.every(({ key }) => isApiKey(key)) ? [] : ['an API key has not the form of one']),
    ...(repeated(apiKeys.map(({ key }) => key)).length === 0 ? [] : ['an API key is listed twice']),
  ]
}

function paymentFaults({ networks, quotes, sweep, replaceAfterMs }: DepositServiceSettings): string[] {
  const source = quotes.source === null || isHttpUrl(quotes.source.url)
  return [
    ...findQuoteFaults(quotes),
    ...(source ? [] : ['the address of the prices is not http']),
    ...(sweep === null ? [] : findSweepFaults(sweep, networks)),
    ...(Number.isInteger(replaceAfterMs) && replaceAfterMs > 0 ? [] : ['replaceAfterMs is not positive']),
  ]
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

function repeated(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, place) => names.indexOf(name) !== place))]
}

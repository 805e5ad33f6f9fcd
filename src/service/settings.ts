import type { NetworkSettings } from '../chain/port.ts'
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
    /** A database of its own: the service keeps everything in the schema `service`. */
    databaseUrl: string
    /** Hexadecimal bytes or a BIP-39 mnemonic. Every deposit address and the liquidity wallet come from it. */
    seed: string
    networks: readonly NetworkSettings[]
    /** Keys that may call beside those that were created; one that was revoked stays revoked. */
    apiKeys: readonly ConfiguredApiKey[]
    quotes: QuoteSettings
    /** Null leaves what is paid at the deposit addresses. */
    sweep: SweepSettings | null
    /** An EVM transaction that no block has taken for so long is signed anew, at a higher fee. */
    replaceAfterMs: number
    /** Null allows none: then no error of the service is wanted. */
    faults: FaultSettings | null
    /** Where faults are switched while it runs: a port on loopback, 0 for any free one. Only with `faults`. */
    adminPort?: number
    /** How long to wait between two looks at a network, and between two looks for deliveries that are due. */
    pollEveryMs: number
  }

/**
 * Checks what the types cannot say, and names every fault at once. Secrets do not appear in the message.
 * @throws Fault `settings_bad`
 */
export function checkSettings(settings: DepositServiceSettings): void {
  const faults = findFaults(settings)
  if (faults.length > 0) throw new Fault('settings_bad', { faults })
}

/** Every fault, in words that hold no secret. */
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
    // viem takes an empty address for "use a public one".
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

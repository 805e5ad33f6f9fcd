import type { NetworkSettings } from '../../src/core/asset.ts'
import { type AssetCode, assetKey, type NetworkName, parseAddress } from '../../src/core/asset.ts'
import type { DepositServiceSettings } from '../../src/service/settings.ts'
import { checkExchange } from './contract.ts'

export const seed =
  'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'
export const writeKey = `dsk_00000001_${'1'.repeat(48)}`
export const readKey = `dsk_00000002_${'2'.repeat(48)}`

type Token = { symbol: string; decimals: number; code: string }

export type Net = {
  name: string
  family: 'evm' | 'solana'
  chainId: number | null
  url: string
  tokens: Token[]
}

/** Settings of one network; a code is a contract, a mint or `native`. */
export function networkSettings({ name, family, chainId, url, tokens }: Net): NetworkSettings {
  const network = name as NetworkName
  const codeOf = (code: string): AssetCode => (code === 'native' ? code : parseAddress(family, code))
  return {
    name: network,
    family,
    chainId,
    rpcUrls: [url],
    assets: tokens.map(({ symbol, decimals, code }) => ({
      key: assetKey(network, codeOf(code)),
      network,
      symbol,
      decimals,
    })),
  }
}

/** The four networks of the interface page, at addresses where nothing answers. */
export const unreachableNetworks: readonly NetworkSettings[] = [
  { name: 'mainnet', chainId: 1 },
  { name: 'base', chainId: 8453 },
  { name: 'arbitrum', chainId: 42_161 },
]
  .map(({ name, chainId }) =>
    networkSettings({
      name,
      family: 'evm',
      chainId,
      url: 'http://127.0.0.1:1',
      tokens: [
        { symbol: 'ETH', decimals: 18, code: 'native' },
        { symbol: 'USDC', decimals: 6, code: '0x1111111111111111111111111111111111111111' },
      ],
    }),
  )
  .concat(
    networkSettings({
      name: 'solana',
      family: 'solana',
      chainId: null,
      url: 'http://127.0.0.1:1',
      tokens: [
        { symbol: 'SOL', decimals: 9, code: 'native' },
        { symbol: 'USDC', decimals: 6, code: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' },
      ],
    }),
  )

export function serviceSettings(
  databaseUrl: string,
  networks: readonly NetworkSettings[],
  changes: Partial<DepositServiceSettings> = {},
): DepositServiceSettings {
  return {
    port: 0,
    databaseUrl,
    seed,
    networks,
    apiKeys: [
      { key: writeKey, scope: 'write' },
      { key: readKey, scope: 'read' },
    ],
    webhooks: [],
    allowPrivateWebhooks: true,
    quotes: {
      prices: { 'ETH/USDC': '3000.5', 'SOL/USDC': '150.25', 'USDC/SOL': '0.0066' },
      source: null,
      feeBasisPoints: 30,
      spreadBasisPoints: 0,
    },
    sweep: null,
    replaceAfterMs: 60_000,
    faults: { seed: 'test' },
    pollEveryMs: 100,
    ...changes,
  }
}

export type Answer = { status: number; type: string | null; body: Record<string, unknown> }

/** Reads with GET, or posts a body. A string is sent as it is. */
export function call(url: string, key: string | null, body?: unknown): Promise<Answer> {
  return send(body === undefined ? 'GET' : 'POST', url, { key, body })
}

type Sent = { key: string | null; body?: unknown; headers?: Readonly<Record<string, string>> }

/** Calls the API as an integrator would, and holds what went over the wire to the published document. */
export async function send(method: string, url: string, { key, body, headers }: Sent): Promise<Answer> {
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body)
  const response = await fetch(url, {
    method,
    headers: {
      ...(key !== null && { 'X-API-KEY': key }),
      ...(text !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(text !== undefined && { body: text }),
  })
  const [type, answered] = [response.headers.get('content-type'), await response.text()]
  const answer = answered === '' ? undefined : (JSON.parse(answered) as Record<string, unknown>)
  const { status, headers: answeredHeaders } = response
  checkExchange({ method, url, sent: readSent(text), status, headers: answeredHeaders, answer })
  return { status, type, body: answer ?? {} }
}

function readSent(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return text
  }
}

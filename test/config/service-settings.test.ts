import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readServiceSettings, serviceNamesIn } from '../../src/config/service-settings.ts'
import { temporaryFolder } from '../support/folder.ts'

const required = {
  SERVICE_DATABASE_URL: 'postgres://db/service',
  SERVICE_SEED: 'ab'.repeat(32),
  RPC_BASE: 'https://base.example',
}

function faultsOf(environment: Record<string, string>, file = ''): string[] {
  return readServiceSettings(environment, () => file).faults
}

test('what must be given is enough', () => {
  const { config, faults } = readServiceSettings(required, () => '')
  expect(faults).toEqual([])
  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 8081,
    tls: null,
    pricesUrl: null,
    webhook: null,
    networks: [{ name: 'base', chainId: 8453, rpcUrls: ['https://base.example'] }],
    file: { quotes: { prices: {}, feeBasisPoints: 0 }, sweep: { enabled: true }, pollEvery: 2000 },
  })
})

test('everything can be given, secrets by a file', async () => {
  const folder = await temporaryFolder()
  const environment: Record<string, string> = {
    RPC_BASE: 'https://one.example,https://other.example',
    SERVICE_DATABASE_URL: 'postgresql://db/service',
    SERVICE_HOST: '0.0.0.0',
    SERVICE_PORT: '443',
    SERVICE_PRICES_URL: 'https://prices.example/all?pairs=ETH,SOL',
    SERVICE_WEBHOOK_URL: 'https://hooks.example',
    SERVICE_CONFIG: 'service.yaml',
    LOG_LEVEL: 'warn',
  }
  for (const name of ['SERVICE_SEED', 'SERVICE_TLS_CERT', 'SERVICE_TLS_KEY', 'SERVICE_WEBHOOK_SECRET']) {
    const path = join(folder, name)
    writeFileSync(path, `the ${name}\n`)
    environment[`${name}_FILE`] = path
  }
  const text = `
quotes: { prices: { ETH/USDC: "3000.5" }, feeBasisPoints: 10, spreadBasisPoints: 5 }
sweep: { enabled: false, minimums: { base/USDC: "10" } }
limits: { requestsPerSecond: 5, requestsAtOnce: 9 }
webhooks: { allowPrivate: true }
pollEvery: 500ms
`
  const { config, faults } = readServiceSettings(environment, () => text)
  expect(faults).toEqual([])
  expect(config).toMatchObject({
    seed: 'the SERVICE_SEED',
    host: '0.0.0.0',
    port: 443,
    tls: { cert: 'the SERVICE_TLS_CERT', key: 'the SERVICE_TLS_KEY' },
    pricesUrl: 'https://prices.example/all?pairs=ETH,SOL',
    webhook: { url: 'https://hooks.example', secret: 'the SERVICE_WEBHOOK_SECRET' },
    networks: [{ rpcUrls: ['https://one.example', 'https://other.example'] }],
    logLevel: 'warn',
    file: {
      quotes: { prices: { 'ETH/USDC': '3000.5' }, feeBasisPoints: 10 },
      sweep: { enabled: false, minimums: { 'base/USDC': '10' } },
      limits: { requestsPerSecond: 5, requestsAtOnce: 9 },
      webhooks: { allowPrivate: true },
      pollEvery: 500,
    },
  })
})

test.each<[string, Record<string, string>, string[]]>([
  ['no database', { SERVICE_DATABASE_URL: '' }, ['SERVICE_DATABASE_URL is empty']],
  ['an empty seed', { SERVICE_SEED: ' ' }, ['SERVICE_SEED is empty']],
  [
    'a port that is none',
    { SERVICE_PORT: '70000' },
    ['SERVICE_PORT must be a port from 1 to 65535, not "70000"'],
  ],
  [
    'half of TLS',
    { SERVICE_TLS_CERT: 'pem' },
    ['SERVICE_TLS_KEY is missing, though SERVICE_TLS_CERT is set'],
  ],
  [
    'half of a webhook',
    { SERVICE_WEBHOOK_SECRET: 'whsec_' },
    ['SERVICE_WEBHOOK_URL is missing, though SERVICE_WEBHOOK_SECRET is set'],
  ],
  [
    'an address of prices that is none',
    { SERVICE_PRICES_URL: 'prices' },
    ['SERVICE_PRICES_URL must be an address that begins with http:// or https://'],
  ],
  [
    'names that are misspelt',
    { SERVICE_PROT: '1', RPC_BASS: 'http://x' },
    [
      expect.stringMatching(/^SERVICE_PROT is unknown; the settings are SERVICE_CONFIG, /),
      expect.stringMatching(/^RPC_BASS is unknown/),
    ],
  ],
])('%s is named', (_what, changes, expected) => {
  expect(faultsOf({ ...required, ...changes })).toEqual(expected)
})

test('no network at all is named', () => {
  const { RPC_BASE: _, ...others } = required
  expect(faultsOf(others)).toEqual([
    'none of RPC_MAINNET, RPC_BASE, RPC_ARBITRUM, RPC_SOLANA is set: no chain could be read',
  ])
})

test.each<[string, string, string]>([
  [
    'a price that is a number',
    'quotes: { prices: { ETH/USDC: 3000.5 } }',
    'quotes.prices.ETH/USDC: must be a decimal in quotes',
  ],
  [
    'a price that must be a decimal',
    'quotes: { prices: { ETH/USDC: "3e3" } }',
    'must be a decimal in quotes, like "3000.5"',
  ],
  ['a fee of everything', 'quotes: { feeBasisPoints: 10000 }', 'quotes.feeBasisPoints: must be at most 9999'],
  ['a time of nothing', 'pollEvery: 0s', 'pollEvery: must be longer than 0'],
  ['a limit of nothing', 'limits: { requestsPerSecond: 0 }', 'limits.requestsPerSecond: must be more than 0'],
  ['an unknown key', 'sweeps: {}', 'the file: unknown key sweeps'],
  [
    'an unknown key of a network',
    'networks: [{ name: base, family: evm, chainId: 1, startBlock: 1, assets: [{ symbol: ETH, contract: native, decimals: 18 }] }]',
    'networks.0: unknown key startBlock',
  ],
  ['no YAML', 'quotes: [', 'SERVICE_CONFIG, '],
])('%s in the file is named with its place', (_what, text, expected) => {
  const faults = faultsOf({ ...required, SERVICE_CONFIG: 'service.yaml' }, text)
  expect(faults).toHaveLength(1)
  expect(faults[0]).toContain(expected)
})

test('a file that cannot be read is named', () => {
  const { faults } = readServiceSettings({ ...required, SERVICE_CONFIG: 'gone.yaml' }, () => {
    throw new Error('no such file')
  })
  expect(faults).toEqual(['SERVICE_CONFIG cannot be read: no such file'])
})

test('all faults are named at once, and no secret', () => {
  const seed = 'a seed that nobody may see'
  const faults = faultsOf({ SERVICE_SEED: seed, SERVICE_PORT: 'x', SERVICE_CONFIG: 'f' }, 'pollEvery: 5')
  expect(faults).toHaveLength(4)
  expect(faults.join()).not.toContain(seed)
})

test("the daemon's own settings do not mean a service of one's own", () => {
  expect(
    serviceNamesIn({
      SERVICE_URL: 'x',
      SERVICE_API_KEY_FILE: 'x',
      SERVICE_API_SECRET: 'x',
      DATABASE_URL: 'x',
      HOME: 'x',
    }),
  ).toEqual([])
  expect(serviceNamesIn({ SERVICE_SEED_FILE: 'x', RPC_BASE: 'x' })).toEqual(['SERVICE_SEED_FILE', 'RPC_BASE'])
})

test("the daemon's settings are no fault of the service", () => {
  expect(faultsOf({ ...required, SERVICE_URL: 'x', SERVICE_API_SECRET_FILE: 'x' })).toEqual([])
  expect(faultsOf({ ...required, SERVICE_URLS: 'x' })).toEqual([
    expect.stringMatching(/^SERVICE_URLS is unknown/),
  ])
})

test('where no certificate would be looked at, that is a fault', () => {
  expect(faultsOf({ ...required, NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toEqual([
    expect.stringContaining('NODE_TLS_REJECT_UNAUTHORIZED is 0'),
  ])
})

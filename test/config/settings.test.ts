import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Environment, readFrom } from '../../src/config/environment.ts'
import { readDatabaseUrl } from '../../src/config/environment-settings.ts'
import { parseSettings, type Settings } from '../../src/config/settings.ts'
import { isFault } from '../../src/core/errors.ts'
import { temporaryFolder } from '../support/folder.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const good = {
  DATABASE_URL: 'postgres://daemon:hunter2@db/depositd',
  SERVICE_URL: 'https://service.example',
  SERVICE_API_KEY: 'key',
  WEBHOOK_SECRETS: secret,
  RPC_BASE: 'https://one.example, https://two.example',
}

type Changes = Record<string, string | undefined>

function parse(changes: Changes = {}, file?: string): Settings {
  const config = file === undefined ? {} : { DEPOSITD_CONFIG: 'settings.yaml' }
  return parseSettings({ ...good, ...config, ...changes }, () => file ?? '')
}

function faultsOf(changes: Changes = {}, file?: string): readonly string[] {
  try {
    parse(changes, file)
    return []
  } catch (error) {
    if (!isFault(error, 'settings_bad')) throw error
    expect(error.message).not.toContain('hunter2')
    expect(error.details.faults.filter((fault) => fault.includes('\n'))).toEqual([])
    return error.details.faults
  }
}

test('what is not set has its default', () => {
  const settings = parse()
  expect(settings).toMatchObject({
    queueUrl: good.DATABASE_URL,
    services: [
      {
        name: 'default',
        webhooks: {
          signing: { scheme: 'standard-webhooks', headers: 'webhook', tolerance: 300_000 },
          keys: { secrets: [{ text: secret, notBefore: null, notAfter: null }], publicKeys: null },
        },
      },
    ],
    http: { host: '0.0.0.0', port: 8080 },
    ops: { host: '127.0.0.1', port: 9464, token: null },
    api: null,
    logLevel: 'info',
    policy: { webhookWithinMs: 600_000, settlementWithinMs: 3_600_000 },
    schedule: {
      scan: '*/5 * * * * *',
      poll: '*/15 * * * * *',
      sweep: '*/5 * * * * *',
      audit: '0 0 * * * *',
      balances: '30 */15 * * * *',
      seal: '*/20 * * * * *',
    },
    poll: { overlapMs: 3_600_000, youngMs: 3_600_000, quietMs: 60_000, sweepEveryMs: 21_600_000 },
    creditAsset: { key: 'stable-wallet/USDC', decimals: 6 },
    senders: new Set(),
    checkedOutflows: new Set(),
    startHeights: new Map(),
  })
  const rpcs = settings.networks.map(({ name, chainId, rpcUrls }) => [name, chainId, rpcUrls.length])
  expect(rpcs).toEqual([
    ['mainnet', 1, 0],
    ['base', 8453, 2],
    ['arbitrum', 42161, 0],
    ['solana', null, 0],
  ])
})

test('every fault is named at once', () => {
  const bad = {
    DATABASE_URL: undefined,
    QUEUE_URL: 'amqp://hunter2@queue',
    SERVICE_URL: 'service.example',
    SERVICE_API_KEY: '',
    WEBHOOK_SCHEME: 'standard',
    WEBHOOK_SECRETS: undefined,
    RPC_BASE: 'wss://base',
    RPC_BSAE: 'https://base',
    HTTP_PORT: '80a',
    OPS_PORT: '65536',
    LOG_LEVEL: 'loud',
    DEPOSITD_CONFIGURATION: 'x',
  }
  expect(faultsOf(bad)).toMatchInlineSnapshot(`
    [
      "WEBHOOK_SCHEME must be one of standard-webhooks, svix, stripe, github, square, hubspot, hmac, public-key, shared-secret, capture, none, not "standard"",
      "DATABASE_URL is missing",
      "QUEUE_URL must be an address that begins with redis:// or rediss:// or postgres:// or postgresql://",
      "SERVICE_URL must be an address that begins with http:// or https://",
      "SERVICE_API_KEY is empty",
      "WEBHOOK_SECRETS is missing",
      "RPC_BASE must be an address that begins with http:// or https://",
      "HTTP_PORT must be a port from 1 to 65535, not "80a"",
      "OPS_PORT must be a port from 1 to 65535, not "65536"",
      "LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent, not "loud"",
      "RPC_BSAE is unknown; the settings are DEPOSITD_CONFIG, RPC_MAINNET, RPC_BASE, RPC_ARBITRUM, RPC_SOLANA",
      "DEPOSITD_CONFIGURATION is unknown; the settings are DEPOSITD_CONFIG, RPC_MAINNET, RPC_BASE, RPC_ARBITRUM, RPC_SOLANA",
    ]
  `)
})

test.each<[string, Changes]>([
  ['an empty port', { HTTP_PORT: '' }],
  ['a port with a sign', { OPS_PORT: '+80' }],
  ['a log level in capitals', { LOG_LEVEL: 'INFO' }],
  ['an empty secret behind a comma', { WEBHOOK_SECRETS: `${secret},` }],
  ['an empty RPC address behind a comma', { RPC_BASE: 'https://one.example,' }],
  ['an empty settings file name', { DEPOSITD_CONFIG: '' }],
])('%s never falls back to a default', (_what, changes) => {
  const [name = ''] = Object.keys(changes)
  expect(faultsOf(changes)).toEqual([expect.stringContaining(name)])
})

test('blanks around the secrets and addresses of a list do not count', () => {
  expect(
    parse({ WEBHOOK_SECRETS: ` ${secret} , ${secret} ` }).services[0].webhooks.keys.secrets.map(
      ({ text }) => text,
    ),
  ).toEqual([secret, secret])
  expect(parse().networks[1]?.rpcUrls).toEqual(['https://one.example', 'https://two.example'])
})

test('without any RPC address no chain could be read', () => {
  expect(faultsOf({ RPC_BASE: undefined })).toEqual([
    'none of RPC_MAINNET, RPC_BASE, RPC_ARBITRUM, RPC_SOLANA is set: no chain could be read',
  ])
})

test('each setting is also read from the file that NAME_FILE names', async () => {
  const folder = await temporaryFolder()
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const settings = parse({
    DATABASE_URL: undefined,
    DATABASE_URL_FILE: write('database', 'postgres://from-file/db\n'),
    SERVICE_API_KEY: undefined,
    SERVICE_API_KEY_FILE: write('key', 'from file\n'),
    RPC_BASE: undefined,
    RPC_BASE_FILE: write('rpc', 'https://from-file.example'),
  })
  expect(settings).toMatchObject({
    databaseUrl: 'postgres://from-file/db',
    services: [{ auth: { headers: { 'X-API-KEY': 'from file' } } }],
  })
  expect(settings.networks[1]?.rpcUrls).toEqual(['https://from-file.example'])
  expect(faultsOf({ SERVICE_API_KEY: undefined, SERVICE_API_KEY_FILE: write('empty', '\n') })).toEqual([
    'SERVICE_API_KEY is empty',
  ])
})

test('a setting and its file together are a fault, and so is a file that cannot be read', async () => {
  const folder = await temporaryFolder()
  const file = join(folder, 'key')
  writeFileSync(file, 'key')
  expect(faultsOf({ SERVICE_API_KEY_FILE: file })).toEqual([
    'SERVICE_API_KEY and SERVICE_API_KEY_FILE are both set; keep one',
  ])
  const missing = join(folder, 'missing')
  for (const name of ['SERVICE_API_KEY', 'SERVICE_URL', 'RPC_BASE', 'HTTP_PORT', 'LOG_LEVEL']) {
    const faults = faultsOf({ [name]: undefined, [`${name}_FILE`]: missing })
    expect(faults).toEqual([expect.stringMatching(new RegExp(`^${name}_FILE cannot be read: ENOENT`))])
  }
})

test('a settings file that cannot be read is a fault beside the others', () => {
  const environment = { ...good, DEPOSITD_CONFIG: 'nowhere.yaml', HTTP_PORT: 'x' }
  expect(() =>
    parseSettings(environment, () => {
      throw new Error('ENOENT: no such file')
    }),
  ).toThrow(
    'settings_bad: faults DEPOSITD_CONFIG cannot be read: ENOENT: no such file; HTTP_PORT must be a port from 1 to 65535, not "x"',
  )
})

test('a name with a slip of the hand is named beside the setting that was meant', () => {
  expect(
    faultsOf({
      LOG_LEVLE: 'debug',
      SECRETS_DRI: '/run',
      QUEUE_ULR_FILE: '/run/queue',
      OPS_PROT: '1',
      HTTPS_PORT: '2',
    }),
  ).toEqual([
    'LOG_LEVLE is unknown; did you mean LOG_LEVEL?',
    'SECRETS_DRI is unknown; did you mean SECRETS_DIR?',
    'QUEUE_ULR_FILE is unknown; did you mean QUEUE_URL_FILE?',
    'OPS_PROT is unknown; did you mean OPS_PORT?',
  ])
})

test('what is no setting of ours is left alone, also what looks like one that is set', () => {
  expect(faultsOf({ DATABASE_URI: 'postgres://other/x', LOG_LEVEL: 'info', LOG_LEVLE: 'x' })).toEqual([])
  expect(faultsOf({ HOME: '/root', HTTP_PROXY: 'http://proxy', RPCBIND: 'x', SERVICE_HOST: 'x' })).toEqual([])
})

const parseDatabaseUrl = (environment: Environment) => readFrom(environment, readDatabaseUrl)

test('commands that need only the database ask for nothing else', () => {
  expect(parseDatabaseUrl({ DATABASE_URL: 'postgresql://db/x' })).toBe('postgresql://db/x')
  expect(() => parseDatabaseUrl({})).toThrow('DATABASE_URL is missing')
  expect(() => parseDatabaseUrl({ DATABASE_URL: 'mysql://user:hunter2@db' })).toThrow(
    /^settings_bad: faults DATABASE_URL must be an address that begins with postgres:\/\/ or postgresql:\/\/$/,
  )
})

test.each([parse, parseDatabaseUrl])(
  'where no certificate would be looked at, nothing is read: %o',
  (read) => {
    const said = /NODE_TLS_REJECT_UNAUTHORIZED is 0, .* unset it, .* NODE_EXTRA_CA_CERTS/
    expect(() => read({ ...good, NODE_TLS_REJECT_UNAUTHORIZED: '0' })).toThrow(said)
    // Node looks at every certificate with any other value.
    expect(() => read({ ...good, NODE_TLS_REJECT_UNAUTHORIZED: '1' })).not.toThrow()
  },
)

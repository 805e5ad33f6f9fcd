import type { NetworkName, NetworkSettings } from '../core/asset.ts'
import { messageOf } from '../core/errors.ts'
import { type Environment, EnvironmentReader } from './environment.ts'
import { assetsOf, rpcName, unpinnedOf } from './network-schema.ts'
import { parseServiceFile, type ServiceFile } from './service-file.ts'
import { type LogLevel, readLogLevel } from './settings.ts'

/** What the deposit service is told by its environment and its file. */
export type ServiceConfig = {
  databaseUrl: string
  seed: string
  host: string
  port: number
  tls: { cert: string; key: string } | null
  /** Those that have an RPC address. */
  networks: readonly NetworkSettings[]
  pricesUrl: string | null
  /** An endpoint beside those that are registered by the API. */
  webhook: { url: string; secret: string } | null
  file: ServiceFile
  logLevel: LogLevel
}

const ownNames = [
  'SERVICE_DATABASE_URL',
  'SERVICE_SEED',
  'SERVICE_CONFIG',
  'SERVICE_HOST',
  'SERVICE_PORT',
  'SERVICE_TLS_CERT',
  'SERVICE_TLS_KEY',
  'SERVICE_PRICES_URL',
  'SERVICE_WEBHOOK_URL',
  'SERVICE_WEBHOOK_SECRET',
]
/** By which the daemon reaches a deposit service: another program's, in the same environment. */
const daemonsNames = ['SERVICE_URL', 'SERVICE_API_KEY']

const httpSchemes = ['http', 'https']

/** The names of the environment by which somebody means a service of theirs, and not one on local chains. */
export function serviceNamesIn(environment: Environment): string[] {
  return Object.keys(environment).filter((name) => {
    const plain = name.replace(/_FILE$/, '')
    return /^(SERVICE|RPC)_/.test(plain) && !daemonsNames.includes(plain)
  })
}

/**
 * Reads all settings of the deposit service at once, with every fault of theirs. Where there is one, what was read
 * serves only to find more of them.
 * @param readText reads the file that `SERVICE_CONFIG` names.
 */
export function readServiceSettings(
  environment: Environment,
  readText: (path: string) => string,
): { config: ServiceConfig; faults: string[] } {
  const reader = new EnvironmentReader(environment)
  const file = readFile(reader, readText)
  const config = {
    databaseUrl: reader.url('SERVICE_DATABASE_URL', ['postgres', 'postgresql']),
    seed: reader.text('SERVICE_SEED'),
    host: reader.text('SERVICE_HOST', '127.0.0.1'),
    port: reader.port('SERVICE_PORT', 8081),
    tls: readTls(reader),
    networks: networksOf(file ?? defaults(), reader),
    pricesUrl: readPricesUrl(reader),
    webhook: readWebhook(reader),
    file: file ?? defaults(),
    logLevel: readLogLevel(reader),
  }
  refuseUnknown(environment, file, reader.faults)
  reader.refuseSlips()
  return { config, faults: [...new Set(reader.faults)] }
}

function readFile(reader: EnvironmentReader, readText: (path: string) => string): ServiceFile | null {
  const path = reader.optional('SERVICE_CONFIG')
  let text = ''
  try {
    if (path !== undefined && path !== '') text = readText(path)
  } catch (error) {
    reader.faults.push(`SERVICE_CONFIG cannot be read: ${messageOf(error)}`)
  }
  const { file, faults } = parseServiceFile(text)
  reader.faults.push(...faults.map((fault) => `SERVICE_CONFIG, ${fault}`))
  return file
}

function defaults(): ServiceFile {
  const { file } = parseServiceFile('')
  if (file === null) throw new Error('invariant broken: an empty file has no fault')
  return file
}

function readPricesUrl(reader: EnvironmentReader): string | null {
  const name = 'SERVICE_PRICES_URL'
  return reader.optional(name) === undefined ? null : reader.url(name, httpSchemes)
}

function readTls(reader: EnvironmentReader): ServiceConfig['tls'] {
  const pair = readPair(reader, ['SERVICE_TLS_CERT', 'SERVICE_TLS_KEY'])
  return pair === null ? null : { cert: pair[0], key: pair[1] }
}

function readWebhook(reader: EnvironmentReader): ServiceConfig['webhook'] {
  const pair = readPair(reader, ['SERVICE_WEBHOOK_URL', 'SERVICE_WEBHOOK_SECRET'])
  return pair === null ? null : { url: pair[0], secret: pair[1] }
}

/** Two settings that say something only together. */
function readPair(
  reader: EnvironmentReader,
  [first, second]: readonly [string, string],
): readonly [string, string] | null {
  const [one, other] = [reader.optional(first), reader.optional(second)]
  if (one !== undefined && other !== undefined) return [one, other]
  if (one !== undefined) reader.faults.push(`${second} is missing, though ${first} is set`)
  if (other !== undefined) reader.faults.push(`${first} is missing, though ${second} is set`)
  return null
}

function networksOf({ networks }: ServiceFile, reader: EnvironmentReader): NetworkSettings[] {
  const named = networks.map((entry): NetworkSettings => {
    const { name, family, chainId, genesisHash } = entry
    return {
      name: name as NetworkName,
      family,
      chainId,
      genesisHash,
      rpcUrls: reader.urls(rpcName(name), httpSchemes),
      assets: assetsOf(entry),
      unpinned: unpinnedOf(entry),
    }
  })
  const served = named.filter(({ rpcUrls }) => rpcUrls.length > 0)
  if (served.length === 0) {
    const names = named.map(({ name }) => rpcName(name)).join(', ')
    reader.faults.push(`none of ${names} is set: there would be no network`)
  }
  return served
}

/**
 * A misspelt setting would silently be its default; what looks like ours and is not, is a fault. Which networks there
 * are is known only where the file can be read.
 */
function refuseUnknown(environment: Environment, file: ServiceFile | null, faults: string[]): void {
  const known = [...ownNames, ...(file?.networks ?? []).map(({ name }) => rpcName(name))]
  const strange = serviceNamesIn(environment).filter((name) => {
    const plain = name.replace(/_FILE$/, '')
    return !known.includes(plain) && !(file === null && plain.startsWith('RPC_'))
  })
  faults.push(...strange.map((name) => `${name} is no setting; known are ${known.join(', ')}`))
}

import { z } from 'zod'
import type { NetworkSettings } from '../core/asset.ts'
import { type Environment, EnvironmentReader } from './environment.ts'
import { type LogLevel, readLogLevel } from './environment-settings.ts'
import { httpSchemes, networkList, readNetworks } from './network-schema.ts'
import { duration, parseYaml } from './yaml-file.ts'

export type ServiceConfig = {
  databaseUrl: string
  seed: string
  host: string
  port: number
  tls: { cert: string; key: string } | null
  networks: readonly NetworkSettings[]
  pricesUrl: string | null
  /** In addition to the endpoints registered through the API. */
  webhook: { url: string; secret: string } | null
  file: ServiceFile
  logLevel: LogLevel
}

/** Settings of the daemon, another program, in the same environment. */
const daemonsName = /^SERVICE_(?:URL(?:_FILE)?$|API_)/

export function serviceNamesIn(environment: Environment): string[] {
  return Object.keys(environment).filter((name) => /^(SERVICE|RPC)_/.test(name) && !daemonsName.test(name))
}

/**
 * If there is a fault, the config serves only to find more of them.
 * @param readText reads the file that `SERVICE_CONFIG` names
 */
export function readServiceSettings(
  environment: Environment,
  readText: (path: string) => string,
): { config: ServiceConfig; faults: string[] } {
  const reader = new EnvironmentReader(environment)
  const parsed = parseServiceFile(reader.fileText('SERVICE_CONFIG', readText))
  reader.faults.push(...parsed.faults.map((fault) => `SERVICE_CONFIG, ${fault}`))
  const file = parsed.file ?? schema.parse({})
  const config = {
    databaseUrl: reader.url('SERVICE_DATABASE_URL', ['postgres', 'postgresql']),
    seed: reader.text('SERVICE_SEED'),
    host: reader.text('SERVICE_HOST', '127.0.0.1'),
    port: reader.port('SERVICE_PORT', 8081),
    tls: readTls(reader),
    networks: readNetworks(file.networks, reader).flatMap(({ reading: _daemons, ...network }) =>
      network.rpcUrls.length > 0 ? [network] : [],
    ),
    pricesUrl: readPricesUrl(reader),
    webhook: readWebhook(reader),
    file,
    logLevel: readLogLevel(reader),
  }
  // Networks are known only if the file can be read.
  reader.refuseUnknown(parsed.file === null ? /^SERVICE_/ : /^(SERVICE|RPC)_/, daemonsName)
  reader.refuseTypos()
  return { config, faults: [...new Set(reader.faults)] }
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

/** In quotes, because YAML rounds numbers. */
const decimalForm = 'must be a decimal in quotes, like "3000.5"'
const decimal = z.string(decimalForm).regex(/^\d{1,30}(\.\d{1,30})?$/, decimalForm)
const basisPoints = z.int().min(0).max(9999)
const count = z.int().positive()

/** Settings that are neither secrets nor server URLs. Everything has a default. */
const schema = z.strictObject({
  networks: networkList,
  quotes: z
    .strictObject({
      /** Whole units of the second asset per whole unit of the first. */
      prices: z.record(z.string(), decimal).default({}),
      feeBasisPoints: basisPoints.default(0),
      spreadBasisPoints: basisPoints.default(0),
    })
    .prefault({}),
  sweep: z
    .strictObject({
      enabled: z.boolean().default(true),
      /** By asset, such as `base/USDC`: the lowest balance worth a sweep, in whole units. */
      minimums: z.record(z.string(), decimal).default({}),
    })
    .prefault({}),
  limits: z
    .strictObject({
      requestsPerSecond: count.default(1000),
      requestsAtOnce: count.default(5000),
    })
    .prefault({}),
  webhooks: z.strictObject({ allowPrivate: z.boolean().default(false) }).prefault({}),
  pollEvery: duration.refine((time) => time > 0, 'must be longer than 0').prefault('2s'),
})

type ServiceFile = z.output<typeof schema>

/** Every fault contains its position; unknown keys are rejected. */
export function parseServiceFile(text: string): { file: ServiceFile | null; faults: string[] } {
  return parseYaml(schema, text)
}

import { dirname, join, resolve } from 'node:path'
import { type Asset, type NetworkName, type NetworkSettings, parseAddress } from '../core/asset.ts'
import type { AlertRules } from '../core/cause.ts'
import type { AccountLabel } from '../core/chart.ts'
import { Fault, messageOf } from '../core/errors.ts'
import type { Policy, RoutePolicy } from '../core/policy.ts'
import type { ContraRule } from '../core/posting.ts'
import { accountsOf } from './accounts.ts'
import { type CanarySettings, readCanary } from './canary.ts'
import { type Environment, EnvironmentReader, readFrom } from './environment.ts'
import { isLoopback, type Links, readLinks } from './link-settings.ts'
import { assetsOf, rpcName, unpinnedOf } from './network-schema.ts'
import { readPlace } from './place.ts'
import { policiesOf } from './policies.ts'
import { readingOf } from './reading-schema.ts'
import { creditAssetOf, parseSettingsFile, type SettingsFile, worldOf } from './settings-file.ts'
import { readTracing, type TracingSettings } from './tracing-settings.ts'
import { readSchemeName, readWebhooks, type WebhookAuthSettings } from './webhook-settings.ts'

export type Settings = {
  databaseUrl: string
  queueUrl: string
  service: ServiceApiSettings
  webhooks: WebhookAuthSettings
  intake: IntakeLimitSettings
  networks: readonly NetworkSettings[]
  /** Start of a network's first scan, if it is not the height that is final then. */
  startHeights: ReadonlyMap<NetworkName, bigint>
  /** The asset in which a StableWallet is credited. */
  creditAsset: Asset
  /** Addresses that the service forwards from, as `network/address`. */
  senders: ReadonlySet<string>
  policy: Policy
  /** In order; the first that matches a deposit applies. */
  routes: readonly RoutePolicy[]
  /** Whose money a deposit is, in order; the first match applies. */
  contras: readonly ContraRule[]
  /** Patterns of the known accounts, and the names of accounts in other books. */
  accounts: { known: readonly string[]; labels: readonly AccountLabel[] }
  secondPersonAbove: ReadonlyMap<string, string>
  /** Which mismatches alert people. */
  alerts: AlertRules
  /** Cron expressions with seconds. */
  schedule: Record<'scan' | 'backfill' | 'poll' | 'sweep' | 'audit' | 'balances' | 'seal', string>
  /** Currency in which amounts are valued; null if they are not. */
  valuation: { currency: string; maxAgeMs: number } | null
  /** Null if off. */
  canary: CanarySettings | null
  poll: { overlapMs: number; youngMs: number; quietMs: number; sweepEveryMs: number }
  /** Bind address of the webhook endpoint. */
  http: HttpBindAddress
  /** On loopback by default, since it is not public. */
  ops: OpsListening
  /** URLs of the console, the dashboards and the runbook, as others open them. */
  links: Links
  logLevel: LogLevel
  /** Destination of traces; null if tracing is off. */
  tracing: TracingSettings | null
}

export type ServiceApiSettings = {
  url: string
  apiKey: string
  /** Path of the mapping profile. */
  profilePath: string
  timeoutMs: number
  attemptsMax: number
}

/** Limits for unauthenticated clients of the webhook endpoint. */
export type IntakeLimitSettings = {
  /** Addresses, or networks like `10.0.0.0/8`, whose `X-Forwarded-For` is trusted. */
  trustedProxies: readonly string[]
  connectionsPerSource: number
  quarantine: { rowsMax: number; bytesMax: number }
}

export type HttpBindAddress = { host: string; port: number }

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

const httpSchemes = ['http', 'https']

/**
 * Reads all settings of the daemon at once.
 * @param readText reads the file that `DEPOSITD_CONFIG` names
 * @throws Fault `settings_bad` with every fault
 */
export function parseSettings(environment: Environment, readText: (path: string) => string): Settings {
  const reader = new EnvironmentReader(environment)
  const file = readSettingsFile(reader, readText)
  const settings = {
    ...readPlace(reader),
    service: serviceOf(reader, file),
    webhooks: readWebhooks(reader, file?.webhooks ?? null, readText),
    networks: file === null ? [] : networksOf(file, reader),
    http: { host: reader.text('HTTP_HOST', '0.0.0.0'), port: reader.port('HTTP_PORT', 8080) },
    ops: readOps(reader),
    links: readLinks(reader),
    logLevel: readLogLevel(reader),
    tracing: readTracing(reader),
  }
  const canary = file && readCanary(reader, file)
  refuseUnknown(environment, file, reader.faults)
  reader.refuseSlips()
  // Some settings are read twice, and report the same fault each time.
  const faults = [...new Set(reader.faults)]
  if (faults.length > 0 || file === null) throw new Fault('settings_bad', { faults })
  return { ...settings, canary, ...fileSettings(file) }
}

/**
 * Reads only the log level.
 * @throws Fault `settings_bad`
 */
export function parseLogLevel(environment: Environment): LogLevel {
  return readFrom(environment, readLogLevel)
}

export function readLogLevel(reader: EnvironmentReader): LogLevel {
  return reader.choice('LOG_LEVEL', logLevels, 'info')
}

function readSettingsFile(
  reader: EnvironmentReader,
  readText: (path: string) => string,
): SettingsFile | null {
  const path = reader.optional('DEPOSITD_CONFIG')
  let text = ''
  try {
    if (path !== undefined && path !== '') text = readText(path)
  } catch (error) {
    reader.faults.push(`DEPOSITD_CONFIG cannot be read: ${messageOf(error)}`)
  }
  const { file, faults } = parseSettingsFile(text, readSchemeName(reader) ?? undefined)
  reader.faults.push(...faults.map((fault) => `DEPOSITD_CONFIG, ${fault}`))
  return file
}

const profilesFolder = join(import.meta.dirname, '../../profiles')

/** A plain name is a built-in profile; anything else is a path relative to the settings file. */
function profilePath(profile: string, settingsPath: string | undefined): string {
  return /^[a-z0-9-]+$/.test(profile)
    ? join(profilesFolder, `${profile}.yaml`)
    : resolve(dirname(settingsPath ?? ''), profile)
}

/** The service by the environment and the file; a file with faults contributes nothing. */
function serviceOf(reader: EnvironmentReader, file: SettingsFile | null): Settings['service'] {
  return {
    url: reader.url('SERVICE_URL', httpSchemes),
    apiKey: reader.text('SERVICE_API_KEY'),
    profilePath: profilePath(file?.service.profile ?? '', reader.optional('DEPOSITD_CONFIG')),
    timeoutMs: file?.service.request.timeout ?? 0,
    attemptsMax: file?.service.request.attempts ?? 0,
  }
}

/** The networks of the file. Those without an RPC URL are not read. */
function networksOf(file: SettingsFile, reader: EnvironmentReader): NetworkSettings[] {
  const networks = file.networks.map((entry): NetworkSettings => {
    const { family, chainId, genesisHash } = entry
    const rpcUrls = reader.urls(rpcName(entry.name), httpSchemes)
    reader.faults.push(...quorumFaults(entry, rpcUrls))
    return {
      name: entry.name as NetworkName,
      family,
      chainId,
      genesisHash,
      rpcUrls,
      assets: assetsOf(entry),
      unpinned: unpinnedOf(entry),
      reading: readingOf(entry),
    }
  })
  if (networks.every(({ rpcUrls }) => rpcUrls.length === 0)) {
    reader.faults.push(
      `none of ${networks.map(({ name }) => rpcName(name)).join(', ')} is set: no chain could be read`,
    )
  }
  return networks
}

/** One node that is listed twice would agree with itself. */
function quorumFaults({ name, quorum }: SettingsFile['networks'][number], urls: readonly string[]): string[] {
  const nodes = new Set(urls.map((url) => URL.parse(url)?.href)).size
  if (nodes === 0 || nodes >= quorum) return []
  return [
    `${rpcName(name)} names ${nodes} of the ${quorum} different nodes that networks.${name}.quorum asks for`,
  ]
}

function fileSettings({ policy, accounts, ...file }: SettingsFile) {
  const { contras, ...chart } = accountsOf(accounts, worldOf(file))
  const { networks, service, intake, cases, alerts, valuation } = file
  const { pollOverlap, pollYoung, pollQuiet, pollAll, ...schedule } = file.schedule
  const senders = networks.flatMap(({ name, family }) =>
    (service.senders[name] ?? []).map((address) => `${name}/${parseAddress(family, address)}`),
  )
  const starts = networks.flatMap(({ name, startHeight }) =>
    startHeight === undefined ? [] : [[name as NetworkName, BigInt(startHeight)] as const],
  )
  const { quarantine } = intake
  return {
    intake: {
      ...intake,
      quarantine: { rowsMax: quarantine.rows, bytesMax: quarantine.megabytes * 1_000_000 },
    },
    startHeights: new Map(starts),
    creditAsset: creditAssetOf(service),
    senders: new Set(senders),
    ...policiesOf(policy, worldOf(file)),
    contras,
    accounts: chart,
    secondPersonAbove: new Map(Object.entries(cases.secondPersonAbove)),
    alerts: {
      lossAbove: new Map(Object.entries(alerts.lossAbove)),
      afterMs: alerts.after,
      causeWithinMs: alerts.causeWithin,
    },
    schedule,
    valuation: valuation && { currency: valuation.currency, maxAgeMs: valuation.maxAge },
    poll: { overlapMs: pollOverlap, youngMs: pollYoung, quietMs: pollQuiet, sweepEveryMs: pollAll },
  }
}

/** A typo would silently leave a setting at its default, so unknown names with our prefixes are faults. */
function refuseUnknown(environment: Environment, file: SettingsFile | null, faults: string[]): void {
  const known = new Set(['DEPOSITD_CONFIG', ...(file?.networks.map(({ name }) => rpcName(name)) ?? [])])
  const strange = Object.keys(environment)
    .filter((name) => /^(DEPOSITD|RPC)_/.test(name))
    .filter((name) => !known.has(name.replace(/_FILE$/, '')))
  if (file !== null)
    faults.push(...strange.map((name) => `${name} is no setting; known are ${[...known].join(', ')}`))
}

/** HTTP server for metrics, health and the console. */
type OpsListening = {
  host: string
  port: number
  /** Required for every request except liveness. Null only on loopback, which other machines cannot reach. */
  token: string | null
}

const tokenLengthMin = 16

export function readOps(reader: EnvironmentReader): OpsListening {
  const host = reader.text('OPS_HOST', '127.0.0.1')
  const token = reader.optional('OPS_TOKEN') ?? null
  if (token === null && host !== '' && !isLoopback(host))
    reader.faults.push(
      `OPS_TOKEN is missing, and OPS_HOST is ${host}: set OPS_TOKEN_FILE to a file with a secret (openssl rand -hex 24), or OPS_HOST to 127.0.0.1`,
    )
  if (token !== null && token !== '') reader.faults.push(...tokenFaults(token))
  return { host, port: reader.port('OPS_PORT', 9464), token }
}

function tokenFaults(token: string): string[] {
  // Headers of browsers and scrapers cannot carry other characters.
  if (!/^[\x21-\x7e]+$/.test(token))
    return ['OPS_TOKEN holds something else than printable ASCII without blanks']
  const isShort = token.length < tokenLengthMin
  return isShort ? [`OPS_TOKEN has less than ${tokenLengthMin} characters: it could be guessed`] : []
}

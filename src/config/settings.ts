import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Asset, type NetworkName, type NetworkSettings, parseAddress } from '../core/asset.ts'
import type { AlertRules } from '../core/cause.ts'
import type { AccountLabel } from '../core/chart.ts'
import { Fault } from '../core/errors.ts'
import { defaultService, type ServiceName } from '../core/evidence.ts'
import type { ContraRule } from '../core/owed.ts'
import type { Policy, RoutePolicy, ServiceStart } from '../core/policy.ts'
import type { Witness } from '../ledger/checkpoint.ts'
import { readAccounts, type ValuationSettings, valuationOf } from './accounts.ts'
import { type CanarySettings, readCanary } from './canary.ts'
import { type Environment, EnvironmentReader, secretsFolder } from './environment.ts'
import { type EnvironmentSettings, readEnvironmentSettings, readStorageUrls } from './environment-settings.ts'
import { httpSchemes, readNetworks, rpcName } from './network-schema.ts'
import { type NotificationSettings, readNotifications } from './notifications.ts'
import { readPolicies } from './policies.ts'
import { readServiceAuth, refuseUnusedSecrets, type ServiceAuth } from './service-auth.ts'
import { creditAssetOf, parseSettingsFile, type SettingsFile, startOf, worldOf } from './settings-file.ts'
import type { OpenIdSettings } from './sign-in.ts'
import {
  defaultWebhookPlace,
  readSchemeName,
  readWebhooks,
  type WebhookAuthSettings,
} from './webhook-settings.ts'

export type Settings = EnvironmentSettings & {
  databaseUrl: string
  queueUrl: string
  /** The default one first. */
  services: readonly [ServiceSettings, ...ServiceSettings[]]
  /** Addresses, or networks like `10.0.0.0/8`, whose `X-Forwarded-For` is trusted. */
  intake: { trustedProxies: readonly string[] }
  /** Whether events may be sent to private addresses. */
  events: { allowPrivate: boolean }
  networks: readonly NetworkSettings[]
  /** Default: the height that is final then. */
  startHeights: ReadonlyMap<NetworkName, bigint>
  /** JSON-RPC calls to each node for reading history. */
  historyPerSecond: number
  creditAsset: Asset
  /** The service forwards from these, as `network/address`. */
  senders: ReadonlySet<string>
  /** As `service/network`, if the service names senders there. */
  checkedOutflows: ReadonlySet<string>
  policy: Policy
  /** The first match applies. */
  routes: readonly RoutePolicy[]
  /** The first match applies. */
  contras: readonly ContraRule[]
  /** Patterns of the known accounts, and the names of accounts in other books. */
  accounts: { known: readonly string[]; guards: readonly string[]; labels: readonly AccountLabel[] }
  secondPersonAbove: ReadonlyMap<string, string>
  /** A change of the policy needs a second person. */
  policySecondPerson: boolean
  /** Changes of the address book need a second person. */
  addressBook: { secondPerson: boolean }
  alerts: AlertRules
  /** Cron expressions with seconds. */
  schedule: Record<'scan' | 'backfill' | 'poll' | 'sweep' | 'audit' | 'balances' | 'seal', string>
  /** Null if amounts are not valued. */
  valuation: ValuationSettings | null
  /** Null if off. */
  canary: CanarySettings | null
  /** Null if people are notified of nothing. */
  notifications: NotificationSettings | null
  poll: { overlapMs: number; youngMs: number; quietMs: number; sweepEveryMs: number }
  http: HttpBindAddress
  /** Null if people sign in with passkeys alone. */
  openId: OpenIdSettings | null
  /** They confirm each checkpoint. */
  witnesses: readonly Witness[]
}

export type ServiceSettings = {
  name: ServiceName
  url: string
  auth: ServiceAuth
  profilePath: string
  timeoutMs: number
  isPaused: boolean
  start: ServiceStart
  webhooks: WebhookAuthSettings
}

export type HttpBindAddress = { host: string; port: number }

/**
 * @param readText reads the file that `DEPOSITD_CONFIG` names
 * @throws Fault `settings_bad` with every fault
 */
export function parseSettings(environment: Environment, readText: (path: string) => string): Settings {
  const reader = new EnvironmentReader(environment)
  const file = readSettingsFile(reader, readText)
  const settings = {
    ...readStorageUrls(reader),
    services: readServices({ reader, readText }, file),
    networks: file === null ? [] : readNetworks(file.networks, reader),
    http: { host: reader.text('HTTP_HOST', '0.0.0.0'), port: reader.port('HTTP_PORT', 8080) },
    ...readEnvironmentSettings(reader),
  }
  reader.faults.push(...settings.networks.flatMap(quorumFaults))
  const canary = file && readCanary(reader, file.canary, settings.services)
  const notifications = file && readNotifications(reader, file.notifications, settings.services)
  // Networks and names of secrets are known only if the file can be read.
  if (file !== null) refuseUnusedSecrets(reader)
  reader.refuseUnknown(file === null ? /^DEPOSITD_/ : /^(DEPOSITD|RPC|NOTIFICATION)_/)
  reader.refuseTypos()
  // Some settings are read twice, and report the same fault each time.
  const faults = [...new Set(reader.faults)]
  if (faults.length > 0 || file === null) throw new Fault('settings_bad', { faults })
  return { ...settings, canary, notifications, ...fileSettings(file) }
}

function readSettingsFile(
  reader: EnvironmentReader,
  readText: (path: string) => string,
): SettingsFile | null {
  const text = reader.fileText('DEPOSITD_CONFIG', readText)
  const { file, faults } = parseSettingsFile(text, readSchemeName(reader) ?? undefined)
  reader.faults.push(...faults.map((fault) => `DEPOSITD_CONFIG, ${fault}`))
  return file
}

const profilesFolder = join(import.meta.dirname, '../../profiles')

function profilePath(profile: string, settingsPath: string | undefined): string {
  return /^[a-z0-9-]+$/.test(profile)
    ? join(profilesFolder, `${profile}.yaml`)
    : resolve(dirname(settingsPath ?? ''), profile)
}

type ServicesReader = { reader: EnvironmentReader; readText: (path: string) => string }

function readServices(from: ServicesReader, file: SettingsFile | null): Settings['services'] {
  const named = Object.entries(file?.services ?? {}).map(([name, section]) =>
    namedServiceOf(from, name as ServiceName, section),
  )
  return [defaultServiceOf(from, file), ...named]
}

function defaultServiceOf({ reader, readText }: ServicesReader, file: SettingsFile | null): ServiceSettings {
  const { profile, timeout, paused } = file?.service ?? { profile: '', timeout: 0, paused: false }
  return {
    name: defaultService,
    url: reader.url('SERVICE_URL', httpSchemes),
    auth: readServiceAuth(reader, file?.service.auth ?? null, 'service.auth'),
    profilePath: profilePath(profile, reader.optional('DEPOSITD_CONFIG')),
    timeoutMs: timeout,
    isPaused: paused,
    start: startOf(file?.service ?? {}),
    webhooks: readWebhooks({ reader, readText, place: defaultWebhookPlace }, file?.webhooks ?? null),
  }
}

function namedServiceOf(
  { reader, readText }: ServicesReader,
  name: ServiceName,
  { url, auth, profile, timeout, paused, webhooks, ...one }: SettingsFile['services'][string],
): ServiceSettings {
  const section = `services.${name}`
  const place = { section: `${section}.webhooks`, secrets: webhookSecretsSetting(name) }
  return {
    name,
    url,
    auth: readServiceAuth(reader, auth, `${section}.auth`),
    profilePath: profilePath(profile, reader.optional('DEPOSITD_CONFIG')),
    timeoutMs: timeout,
    isPaused: paused,
    start: startOf(one),
    webhooks: readWebhooks({ reader, readText, place }, webhooks),
  }
}

export function urlSettingOf(service: ServiceName): string {
  return service === defaultService ? 'SERVICE_URL' : `services.${service}.url`
}

export function authSettingOf(service: ServiceName): string {
  return service === defaultService ? 'service.auth' : `services.${service}.auth`
}

export function webhooksSettingOf(service: ServiceName): string {
  return service === defaultService ? 'webhooks' : `services.${service}.webhooks`
}

/** The setting of the environment that has the secrets of a service's webhooks. */
export function webhookSecretsSetting(service: ServiceName): string {
  const { secrets } = defaultWebhookPlace
  return service === defaultService ? secrets : `${secrets}_${service.toUpperCase().replaceAll('-', '_')}`
}

/** One node that is listed twice would agree with itself. */
function quorumFaults({ name, rpcUrls, reading }: NetworkSettings): string[] {
  const nodes = new Set(rpcUrls.map((url) => URL.parse(url)?.href)).size
  const quorum = reading?.quorum ?? 1
  if (nodes === 0 || nodes >= quorum) return []
  return [
    `${rpcName(name)} must name at least ${quorum} different nodes, the quorum of ${name}; it names ${nodes}`,
  ]
}

/** What the schema accepted is not refused again. */
const acceptAll = () => undefined

function fileSettings({ policy, accounts, ...file }: SettingsFile) {
  const { contras, ...chart } = readAccounts(accounts, worldOf(file), acceptAll)
  const { networks, service, services, intake, cases, alerts, valuation } = file
  const { pollOverlap, pollYoung, pollQuiet, pollAll, ...schedule } = file.schedule
  const named = Object.entries({ [defaultService]: service, ...services })
  const senders = networks.flatMap(({ name, family }) =>
    named.flatMap(([of, one]) =>
      (one.senders[name] ?? []).map((address) => ({
        of,
        network: name,
        address: parseAddress(family, address),
      })),
    ),
  )
  const starts = networks.flatMap(({ name, startHeight }) =>
    startHeight === undefined ? [] : [[name as NetworkName, BigInt(startHeight)] as const],
  )
  return {
    intake,
    events: file.events,
    startHeights: new Map(starts),
    historyPerSecond: file.history.requestsPerSecond,
    creditAsset: creditAssetOf(service),
    senders: new Set(senders.map(({ network, address }) => `${network}/${address}`)),
    checkedOutflows: new Set(senders.map(({ of, network }) => `${of}/${network}`)),
    ...readPolicies(policy, worldOf(file), acceptAll),
    policySecondPerson: policy.secondPerson,
    contras,
    accounts: chart,
    secondPersonAbove: new Map(Object.entries(cases.secondPersonAbove)),
    addressBook: file.addressBook,
    alerts: {
      lossAbove: new Map(Object.entries(alerts.lossAbove)),
      afterMs: alerts.after,
    },
    schedule,
    witnesses: file.ledger.witnesses,
    openId: file.signIn.openId,
    valuation: valuation && valuationOf(valuation),
    poll: { overlapMs: pollOverlap, youngMs: pollYoung, quietMs: pollQuiet, sweepEveryMs: pollAll },
  }
}

const followedNames = /^(?:DEPOSITD_CONFIG|PUBLIC_URL|(?:SERVICE|WEBHOOK)_[A-Z0-9_]+)$/

/**
 * Reads again only if a file with settings of services changed, a profile included: parsing all settings every few
 * seconds would delay webhooks.
 * @returns a function that throws Fault `settings_bad` while there is a fault; the same settings as long as no file
 * changed
 */
export function createSettingsReader(
  environment: Environment,
  readText: (path: string) => string,
): () => Settings {
  let texts = new Map<string, string>()
  let settings: Settings | null = null
  const textOf = (path: string): string => {
    try {
      return readText(path)
    } catch {
      return ''
    }
  }
  return () => {
    const isComplete = followedFiles(environment).every((path) => texts.has(path))
    const isSame = isComplete && [...texts].every(([path, text]) => textOf(path) === text)
    if (settings !== null && isSame) return settings
    settings = null
    texts = new Map(followedFiles(environment).map((path) => [path, textOf(path)]))
    settings = parseSettings(environment, (path) => {
      const text = readText(path)
      texts.set(path, text)
      return text
    })
    for (const service of settings.services) texts.set(service.profilePath, textOf(service.profilePath))
    return settings
  }
}

function followedFiles(environment: Environment): string[] {
  const named = Object.entries(environment).flatMap(([name, path]) =>
    path !== undefined && name.endsWith('_FILE') && followedNames.test(name.slice(0, -5)) ? [path] : [],
  )
  const folder = environment[secretsFolder]
  // A missing folder is a fault of the settings.
  if (folder === undefined || !existsSync(folder)) return named
  const mounted = readdirSync(folder).filter((name) => followedNames.test(name))
  return [...named, ...mounted.map((name) => join(folder, name))]
}
